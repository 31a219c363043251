package mapping

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// allocated returns how many bytes a function allocates in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A request of the size that is allowed has small parts that become larger, or of which each would need much more memory
// than its text.
func TestRequestsTakeFewTimesTheirSize(t *testing.T) {
	const limit = MaxRequest
	const size = limit - 1<<10
	fill := func(part string) string { return strings.Repeat(part, size/len(part)) }
	configMap, policy, namespace := kindOf("v1", "ConfigMap"), kindOf("networking.k8s.io/v1", "NetworkPolicy"), kindOf("v1", "Namespace")
	annotated := func(key, value string) string {
		return `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"annotations":{"` + key + `":"` + value + `"}}}`
	}
	annotatedWire := func(key, value string) []byte {
		return wireObject("v1", "ConfigMap", bytesField(1, bytesField(12, join(stringField(1, key), stringField(2, value))...)...))
	}
	peers := bytesField(2, bytesField(2)...)
	var rules []byte
	for range 3 {
		rules = append(rules, bytesField(2, bytes.Repeat(peers, maxWireFields)...)...)
	}
	m := testMapper()
	request := func(kind schema.GroupVersionKind, body string) func() (int, error) {
		return func() (int, error) {
			out, _, err := m.Request("application/json", kind, []byte(body))
			return len(out), err
		}
	}
	wire := func(kind schema.GroupVersionKind, body []byte) func() (int, error) {
		return func() (int, error) { out, err := m.Protobuf(In, kind, body); return len(out), err }
	}
	patch := func(body string) func() (int, error) {
		return func() (int, error) { out, err := m.Patch(jsonPatch, namespace, []byte(body)); return len(out), err }
	}
	for name, test := range map[string]struct {
		translate func() (int, error)
		is        func(error) bool // nil: it may be sent
		most      uint64           // times the size
	}{
		"an ancestry of dots":                 {request(configMap, annotated(hnc.AnnotationAncestry, fill("."))), nil, 8},
		"an ancestry of short names":          {request(configMap, annotated(hnc.AnnotationAncestry, fill("a."))), apierrors.IsRequestEntityTooLargeError, 10},
		"a list of commas":                    {request(configMap, annotated(hnc.AnnotationTreeSelect, fill(","))), nil, 8},
		"a list of short names":               {request(configMap, annotated(hnc.AnnotationTreeSelect, fill("a,"))), apierrors.IsRequestEntityTooLargeError, 10},
		"a selector of short names":           {request(configMap, annotated(hnc.AnnotationSelect, labelName+" in ("+fill("a,")+")")), apierrors.IsRequestEntityTooLargeError, 10},
		"selectors of all namespaces":         {request(policy, `{"spec":{"ingress":[{"from":[`+fill(`{"namespaceSelector":{}},`)+`{}]}]}}`), apierrors.IsRequestEntityTooLargeError, 16},
		"a text that is not UTF-8":            {request(configMap, annotated(hnc.AnnotationAncestry, fill("\xff"))), apierrors.IsBadRequest, 2},
		"an ancestry of dots in protobuf":     {wire(configMap, annotatedWire(hnc.AnnotationAncestry, fill("."))), nil, 8},
		"an ancestry of names in protobuf":    {wire(configMap, annotatedWire(hnc.AnnotationAncestry, fill("a."))), apierrors.IsRequestEntityTooLargeError, 10},
		"selectors of namespaces in protobuf": {wire(policy, wireObject("networking.k8s.io/v1", "NetworkPolicy", bytesField(2, rules...))), apierrors.IsRequestEntityTooLargeError, 16},
		"a pointer of slashes":                {patch(`[{"op":"remove","path":"` + fill("/") + `"}]`), apierrors.IsBadRequest, 8},
		"many unknown members":                {request(configMap, `{"metadata":{"ownerReferences":[`+fill(`{`+strings.Repeat(`"a":1,`, 60_000)+`"b":1},`)+`{}]}}`), nil, 8},
		"operations that become larger":       {patch(`[` + fill(`{"op":"add","path":"/metadata/name","value":"a"},`) + `{"op":"test","path":""}]`), apierrors.IsRequestEntityTooLargeError, 16},
	} {
		var got int
		var err error
		if n := allocated(func() { got, err = test.translate() }); n > test.most*limit {
			t.Errorf("%s: %d KiB are allocated", name, n>>10)
		}
		if got > limit || (err != nil) != (test.is != nil) || err != nil && !test.is(err) {
			t.Errorf("%s: got %d bytes, %.300v", name, got, err)
		}
	}
}

// A response has as many texts as its objects, which can be large.
func TestAnnotationsInResponsesTakeFewTimesTheirSize(t *testing.T) {
	text := strings.Repeat(".", 256<<10)
	for name, translate := range map[string]func(string) string{
		"an ancestry": testMapper().translation(Out).ancestry, "a list": testMapper().translation(Out).listed,
	} {
		if n := allocated(func() { translate(text) }); n > 1<<20 {
			t.Errorf("%s of dots: %d KiB are allocated", name, n>>10)
		}
	}
	if n := allocated(func() { testMapper().translation(Out).listed(strings.ReplaceAll(text, ".", ",")) }); n > 1<<20 {
		t.Errorf("a list of commas: %d KiB are allocated", n>>10)
	}
}
