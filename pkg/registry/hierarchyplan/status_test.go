package hierarchyplan

import (
	"runtime"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestPositionRoundTrip(t *testing.T) {
	at := position{Namespace: "team-a", Write: 7, Access: 3}
	if got, err := parsePosition(at.String()); err != nil || got != at {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"x", "e30", position{}.String(), position{Namespace: "a", Write: -1}.String(), position{Namespace: "a", Access: -1}.String()} {
		if _, err := parsePosition(bad); err == nil {
			t.Errorf("%q is accepted as a position", bad)
		}
	}
}

func TestDryRunSummaryIsShort(t *testing.T) {
	var objects []hnc.PlannedObject
	for range 10 {
		objects = append(objects, hnc.PlannedObject{Action: hnc.ActionAdd, Resource: "configmaps", Name: "a", Source: "root"})
	}
	lines := summaryLines(hnc.HierarchyPlanStatus{Summary: hnc.PlanSummary{Namespaces: 1, Added: 10}, Namespaces: []hnc.NamespacePlan{{Name: "x", Objects: objects}}})
	if len(lines) != maxWarnings+2 || !strings.Contains(lines[len(lines)-1], "and more") {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	if lines := summaryLines(hnc.HierarchyPlanStatus{}); len(lines) > 0 {
		t.Errorf("without effects: got warnings %q", lines)
	}
}

func TestLongDiffIsTruncated(t *testing.T) {
	long := `{"data":{"a":"` + strings.Repeat("x", 2*maxDiffBytes) + `"}}`
	if text := unifiedDiff([]byte(long), []byte(`{}`), false); len(text) > maxDiffBytes+20 || !strings.HasSuffix(text, "(and more)\n") {
		t.Errorf("%d bytes", len(text))
	}
	const applied = `{"kind":"Secret","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"xyzzy"}},"data":{"a":"eA=="}}`
	if text := unifiedDiff([]byte(applied), []byte(`{"kind":"Secret","data":{"b":"eA=="}}`), true); strings.Contains(text, "xyzzy") || strings.Contains(text, "eA==") {
		t.Errorf("the diff contains the content of a Secret:\n%s", text)
	}
}

// Each line of YAML repeats the indentation of all levels around it.
func TestDeepObjectsAreNotWrittenToBeCompared(t *testing.T) {
	const levels = 3000
	deep := []byte(strings.Repeat(`{"a":`, levels) + "[0" + strings.Repeat(",0", 10_000) + "]" + strings.Repeat("}", levels))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text := unifiedDiff(deep, []byte(`{}`), false)
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; text != tooLong || bytes > 32<<20 {
		t.Errorf("got %q, of %d bytes", text, bytes)
	}
}

// A plan says why a change is refused, and not that a server is busy.
func TestBusyServersRefuseNoChange(t *testing.T) {
	forbidden, busy := apierrors.NewForbidden(schema.GroupResource{}, "", nil), apierrors.NewTooManyRequests("busy", 1)
	if err := delayed([]error{forbidden}); err != nil {
		t.Errorf("got %v", err)
	}
	if err := delayed([]error{forbidden, busy}); !apierrors.IsTooManyRequests(err) {
		t.Errorf("got %v", err)
	}
}
