package wire

import (
	"encoding/json"
	"testing"
)

// newer are objects in v1beta1 with fields that v1alpha2 does not have, and what a client of v1alpha2 changes in them.
var newer = []struct {
	resource, older, namespace, name string
	// spec is what is stored, change a merge patch of a client of v1alpha2, and want what is stored then.
	spec, change, want string
}{
	{
		resource: "hierarchies", older: "hierarchyconfigurations", namespace: "kept", name: "hierarchy",
		spec: `{"namespaceLabels":[{"key":"managed.example/a","value":"1"}],"namespaceAnnotations":[{"key":"managed.example/b","value":"2"}],
			"requiredChildren":["kept-child"],"propagation":[{"group":"","resource":"secrets","mode":"Propagate","onConflict":"Keep"}]}`,
		change: `{"allowCascadingDeletion":true}`,
		want: `{"allowCascadingDeletion":true,
			"namespaceLabels":[{"key":"managed.example/a","value":"1"}],"namespaceAnnotations":[{"key":"managed.example/b","value":"2"}],
			"requiredChildren":["kept-child"],"propagation":[{"resource":"secrets","mode":"Propagate","onConflict":"Keep"}]}`,
	},
	{
		resource: "subnamespaces", older: "subnamespaceanchors", namespace: "kept", name: "kept-sub",
		spec:   `{"namespaceLabels":[{"key":"managed.example/a","value":"1"}],"namespaceAnnotations":[{"key":"managed.example/b","value":"2"}]}`,
		change: `{"labels":[{"key":"managed.example/c","value":"3"}]}`,
		want: `{"labels":[{"key":"managed.example/c","value":"3"}],
			"namespaceLabels":[{"key":"managed.example/a","value":"1"}],"namespaceAnnotations":[{"key":"managed.example/b","value":"2"}]}`,
	},
	{
		resource: "hierarchicalresourcequotas", older: "hierarchicalresourcequotas", namespace: "kept", name: "kept-quota",
		spec:   `{"scopes":["NotTerminating"],"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["high"]}]}}`,
		change: `{"hard":{"pods":"3"}}`,
		want: `{"hard":{"pods":"3"},
			"scopes":["NotTerminating"],"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["high"]}]}}`,
	},
	{
		resource: "hncconfigurations", older: "hncconfigurations", name: "config",
		spec:   `{"creatorRole":"view","resources":[{"resource":"secrets","mode":"AllowPropagate","onConflict":"Keep"}]}`,
		change: `{"resources":[{"resource":"configmaps","mode":"Ignore"},{"resource":"secrets","mode":"Remove"}]}`,
		want:   `{"creatorRole":"view","onConflict":"Overwrite","resources":[{"resource":"configmaps","mode":"Ignore"},{"resource":"secrets","mode":"Remove","onConflict":"Keep"}]}`,
	},
}

var kinds = map[string]string{"hierarchies": "Hierarchy", "subnamespaces": "Subnamespace", "hncconfigurations": "HNCConfiguration",
	"hierarchicalresourcequotas": "HierarchicalResourceQuota"}

func fields(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

func text(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// owned returns the fields of an object as managed fields.
func owned(t *testing.T, spec string) string {
	t.Helper()
	set := map[string]any{}
	for field := range fields(t, spec) {
		set["f:"+field] = map[string]any{}
	}
	return text(t, set)
}
