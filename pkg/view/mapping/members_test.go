package mapping

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// manyMembers returns the members of an object, the smallest that have different names.
func manyMembers(count int, value string) string {
	var b strings.Builder
	for i := range count {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%x":%s`, i, value)
	}
	return b.String()
}

func TestRequestsWithTooManyMembersAreRejected(t *testing.T) {
	m := testMapper()
	for _, format := range []string{`{"kind":"ConfigMap","apiVersion":"v1","data":{%s}}`, `{"metadata":{"labels":{%s}}}`, `{%s}`, `{"a":[{"b\"{[":{%s}}]}`} {
		for count, ok := range map[int]bool{maxMembers: true, maxMembers + 1: false} {
			body := fmt.Appendf(nil, format, manyMembers(count, `""`))
			_, _, err := m.Request("application/json", kindOf("v1", "ConfigMap"), body)
			_, patchErr := m.Patch("application/merge-patch+json", kindOf("v1", "ConfigMap"), body)
			for _, err := range []error{err, patchErr} {
				if ok && err != nil || !ok && !apierrors.IsRequestEntityTooLargeError(err) {
					t.Errorf("%s with %d members: %v", format, count, err)
				}
			}
		}
	}
}

// A response costs little more memory than what is read and written, however small its members are.
func TestSmallMembersOfResponsesNeedLittleMemory(t *testing.T) {
	m := testMapper()
	for _, format := range []string{
		`{"kind":"Pod","apiVersion":"v1",%s}`, `{"kind":"Pod","apiVersion":"v1","metadata":{%s}}`, `{"kind":"Pod","apiVersion":"v1","metadata":{"labels":{%s}}}`,
		`{"kind":"Namespace","apiVersion":"v1","metadata":{"labels":{"outside.tree.hnc.x-k8s.io/depth":"1",%s}}}`,
		`{"kind":"Pod","apiVersion":"v1","metadata":{"managedFields":[{"fieldsV1":{"f:metadata":{"f:labels":{%s}}}}]}}`,
		`{"kind":"Status","apiVersion":"v1","details":{%s}}`,
	} {
		body := fmt.Sprintf(format, manyMembers(20_000, `""`))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := m.Response(kindOf("v1", "Pod"), false, strings.NewReader(body), io.Discard); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if each := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(body)); each > 15 {
			t.Errorf("%s: %.1f bytes are allocated for each byte", format, each)
		}
	}
}
