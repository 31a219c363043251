package plan

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// The definition has left the repository, and its objects have not: the objects of everybody would be deleted with it.
func TestRemovedDefinitionsAreUnsafe(t *testing.T) {
	widget := &Object{ID: ID{schema.GroupKind{Group: "example.com", Kind: "Widget"}, "shop", "w"}, Path: "namespaces/shop/w.yaml"}
	definition := &Object{ID: ID{Kind: object.CRD, Name: "widgets.example.com"}}
	resource := func(kind schema.GroupKind) (schema.GroupVersionResource, bool) {
		return schema.GroupVersionResource{Group: kind.Group, Version: "v1", Resource: "widgets"}, kind == widget.Kind
	}
	ours := map[ID]Live{definition.ID: {UID: "u", Owned: 1}}
	for name, test := range map[string]struct {
		live    map[ID]Live
		desired []*Object
		want    int
	}{
		"it has left":           {ours, []*Object{widget}, 1},
		"both have left":        {ours, nil, 0},
		"neither has left":      {ours, []*Object{definition, widget}, 0},
		"it is somebody else's": {map[ID]Live{definition.ID: {UID: "u"}}, []*Object{widget}, 0},
		"it is kept":            {map[ID]Live{definition.ID: {UID: "u", Owned: 1, Detached: true}}, []*Object{widget}, 0},
		"it was never there":    {nil, []*Object{widget}, 0},
	} {
		errors := RemovedDefinitions(&State{Live: test.live}, test.desired, resource)
		if len(errors) != test.want || test.want > 0 && (errors[0].Code != report.RemovedCRD || errors[0].Paths[0] != widget.Path) {
			t.Errorf("%s: got %v", name, errors)
		}
	}
}
