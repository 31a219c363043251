package treeplacement

import (
	"strconv"
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestTooManyPlacements(t *testing.T) {
	p := &hnc.TreePlacement{}
	for i := range maxPlacements {
		p.Spec.Placements = append(p.Spec.Placements, hnc.Placement{Namespace: "n" + strconv.Itoa(i), Parent: "p"})
	}
	if errs := validatePlacements(p); len(errs) > 0 {
		t.Error(errs)
	}
	p.Spec.Placements = append(p.Spec.Placements, hnc.Placement{Namespace: "more", Parent: "p"})
	if errs := validatePlacements(p); len(errs) != 1 || !strings.Contains(errs[0].Error(), "spec.placements: Too many") {
		t.Errorf("got %v", errs)
	}
}
