package plan

import (
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestAPlaceSurvivesTheWayToTheClientAndBack(t *testing.T) {
	at := place{Namespace: "team-a", Write: 7}
	if got, err := position(at.String()); err != nil || got != at {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"x", "e30", place{}.String(), place{Namespace: "a", Write: -1}.String()} {
		if _, err := position(bad); err == nil {
			t.Errorf("%q is taken for a place", bad)
		}
	}
}

func TestAGistIsShort(t *testing.T) {
	var objects []hnc.PlannedObject
	for range 10 {
		objects = append(objects, hnc.PlannedObject{Action: hnc.ActionAdd, Resource: "configmaps", Name: "a", Source: "root"})
	}
	lines := gist(hnc.HierarchyPlanStatus{Summary: hnc.PlanSummary{Namespaces: 1, Added: 10}, Namespaces: []hnc.NamespacePlan{{Name: "x", Objects: objects}}})
	if len(lines) != maxWarnings+2 || !strings.Contains(lines[len(lines)-1], "and more") {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	if lines := gist(hnc.HierarchyPlanStatus{}); len(lines) > 0 {
		t.Errorf("nothing happens, and it tells %q", lines)
	}
}

func TestALongDifferenceIsCut(t *testing.T) {
	long := `{"data":{"a":"` + strings.Repeat("x", 2*maxDifference) + `"}}`
	if text := compare([]byte(long), []byte(`{}`), false); len(text) > maxDifference+20 || !strings.HasSuffix(text, "(and more)\n") {
		t.Errorf("%d bytes", len(text))
	}
	const applied = `{"kind":"Secret","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"xyzzy"}},"data":{"a":"eA=="}}`
	if text := compare([]byte(applied), []byte(`{"kind":"Secret","data":{"b":"eA=="}}`), true); strings.Contains(text, "xyzzy") || strings.Contains(text, "eA==") {
		t.Errorf("it tells what is in a Secret:\n%s", text)
	}
}
