package hierarchy

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// A tenant could otherwise have an administrator's move exceed a quota that the administrator may update.
func TestOnlyTheRequestThatMovesMayExceedQuotas(t *testing.T) {
	annotated := func(value string) *hnc.Hierarchy {
		h := &hnc.Hierarchy{ObjectMeta: metav1.ObjectMeta{Generation: 1, Annotations: map[string]string{}}}
		if value != "" {
			h.Annotations[hnc.AnnotationExceedQuotas] = value
		}
		return h
	}
	for name, row := range map[string]struct {
		h, old *hnc.Hierarchy
		want   bool
	}{
		"a new object":                       {annotated("true"), nil, true},
		"a new object without it":            {annotated(""), nil, false},
		"another value":                      {annotated("yes"), nil, false},
		"a change that sets it":              {annotated("true"), annotated(""), true},
		"stored by an earlier version":       {annotated("true"), annotated("true"), false},
		"stored with another value, and set": {annotated("true"), annotated("no"), false},
		"stored, and removed":                {annotated(""), annotated("true"), false},
	} {
		if got := exceedsQuotas(t.Context(), row.h, row.old); got != row.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
	s := strategy{}
	for name, prepare := range map[string]func(h *hnc.Hierarchy){
		"update of a stored one": func(h *hnc.Hierarchy) { s.PrepareForUpdate(t.Context(), h, annotated("true")) },
		"update":                 func(h *hnc.Hierarchy) { s.PrepareForUpdate(t.Context(), h, annotated("")) },
	} {
		h := annotated("true")
		prepare(h)
		if len(h.Annotations) > 0 {
			t.Errorf("%s: %v is stored", name, h.Annotations)
		}
	}
}
