package kinds

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	lua "github.com/yuin/gopher-lua"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/pages"
)

// Objects are applied as Argo CD and Flux apply them, and their health is determined as the tools do.
func TestGitOps(t *testing.T) {
	root, mid, _ := tree(t, "gitops")
	script := healthScript(t)
	hierarchies, subnamespaces := v1beta1.SchemeGroupVersion.WithResource("hierarchies"), v1beta1.SchemeGroupVersion.WithResource("subnamespaces")
	tools := map[string]map[string]string{
		"argocd-controller":    {"argocd.argoproj.io/tracking-id": "trees:hnc.x-k8s.io/Hierarchy:" + mid + "/hierarchy"},
		"kustomize-controller": nil,
	}
	for tool, annotations := range tools {
		t.Run(tool, func(t *testing.T) {
			apply := func(resource schema.GroupVersionResource, kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
				t.Helper()
				o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
				o.SetGroupVersionKind(v1beta1.SchemeGroupVersion.WithKind(kind))
				o.SetName(name)
				o.SetAnnotations(annotations)
				applied, err := alice.Dynamic.Resource(resource).Namespace(namespace).Apply(t.Context(), name, o, metav1.ApplyOptions{FieldManager: tool, Force: true})
				if err != nil {
					t.Fatal(err)
				}
				return applied
			}
			healthy := func(resource schema.GroupVersionResource, namespace, name, want string) {
				t.Helper()
				suite.EventuallyEqual(t, "health of "+name, want, func() string {
					o, err := alice.Dynamic.Resource(resource).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
					if err != nil {
						return err.Error()
					}
					result, err := kstatus.Compute(o)
					if err != nil {
						return err.Error()
					}
					return health(t, script, o) + " " + result.Status.String()
				})
			}
			child := "gitops-" + strings.TrimSuffix(tool, "-controller")
			apply(hierarchies, "Hierarchy", mid, hnc.Singleton, map[string]any{"parent": root})
			apply(subnamespaces, "Subnamespace", mid, child, map[string]any{})
			healthy(hierarchies, mid, hnc.Singleton, "Healthy Current")
			healthy(subnamespaces, mid, child, "Healthy Current")

			// Applying the same once more changes nothing, whatever the propagator has written by then.
			before, err := alice.Dynamic.Resource(subnamespaces).Namespace(mid).Get(t.Context(), child, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if after := apply(subnamespaces, "Subnamespace", mid, child, map[string]any{}); after.GetGeneration() != before.GetGeneration() {
				t.Errorf("generation %d, then %d", before.GetGeneration(), after.GetGeneration())
			}

			apply(hierarchies, "Hierarchy", mid, hnc.Singleton, map[string]any{"parent": "gitops-missing"})
			healthy(hierarchies, mid, hnc.Singleton, "Degraded InProgress")
			apply(hierarchies, "Hierarchy", mid, hnc.Singleton, map[string]any{"parent": root})
			healthy(hierarchies, mid, hnc.Singleton, "Healthy Current")
		})
	}
}

// TestHealthOfEachKind runs the health check of the page, that of Flux, and what kubectl wait looks at, for objects of
// all kinds that have conditions.
func TestHealthOfEachKind(t *testing.T) {
	script := healthScript(t)
	condition := func(name, status, reason string, generation int64) map[string]any {
		return map[string]any{"type": name, "status": status, "reason": reason, "message": "m", "observedGeneration": generation}
	}
	for _, kind := range kindsWithConditions(t) {
		for want, conditions := range map[string][]any{
			"Healthy Current":        {condition("Other", "False", "Other", 2), condition(hnc.ConditionReady, "True", "Any", 2)},
			"Degraded InProgress":    {condition("Other", "True", "Other", 2), condition(hnc.ConditionReady, "False", "Any", 2)},
			"Progressing InProgress": {condition("Other", "True", "Other", 2), condition(hnc.ConditionReady, "True", "Any", 1)},
			"Suspended InProgress":   {condition(hnc.ConditionReady, "False", hnc.ReasonPaused, 2)},
		} {
			o := &unstructured.Unstructured{Object: map[string]any{
				"kind": kind, "metadata": map[string]any{"generation": int64(2)},
				"status": map[string]any{"conditions": conditions, "observedGeneration": conditions[len(conditions)-1].(map[string]any)["observedGeneration"]},
			}}
			result, err := kstatus.Compute(o)
			if err != nil {
				t.Fatal(err)
			}
			if got := health(t, script, o) + " " + result.Status.String(); got != want {
				t.Errorf("%s with %v: got %s, want %s", kind, conditions, got, want)
			}
		}
	}
	pending := &unstructured.Unstructured{Object: map[string]any{
		"kind": "HierarchicalResourceQuota", "metadata": map[string]any{"generation": int64(1)},
		"status": map[string]any{"conditions": []any{condition(hnc.ConditionReady, "False", hnc.ReasonPending, 1)}},
	}}
	if got := health(t, script, pending); got != "Progressing" {
		t.Errorf("a quota that is not enforced yet: got %s", got)
	}
	if got := health(t, script, &unstructured.Unstructured{Object: map[string]any{"kind": "RepositorySync"}}); got != "Progressing" {
		t.Errorf("without a status: got %s", got)
	}
}

// kindsWithConditions returns the kinds of the API whose status has conditions.
func kindsWithConditions(t *testing.T) []string {
	t.Helper()
	scheme := runtime.NewScheme()
	utilruntime.Must(v1beta1.AddToScheme(scheme))
	utilruntime.Must(v1alpha3.AddToScheme(scheme))
	var kinds []string
	for gvk, of := range scheme.AllKnownTypes() {
		if status, ok := of.FieldByName("Status"); ok && status.Type.Kind() == reflect.Struct {
			_, conditions := status.Type.FieldByName("Conditions")
			if _, observed := status.Type.FieldByName("ObservedGeneration"); conditions && !observed {
				t.Errorf("%s has conditions, and no observedGeneration", gvk.Kind)
			}
			if conditions && gvk.Group == hnc.GroupName {
				kinds = append(kinds, gvk.Kind)
			}
		}
	}
	slices.Sort(kinds)
	return kinds
}

// healthScript returns the health check that docs/gitops.md shows.
func healthScript(t *testing.T) string {
	t.Helper()
	page, err := pages.Read("../../../docs/gitops.md")
	if err != nil {
		t.Fatal(err)
	}
	const key = "resource.customizations.health.hnc.x-k8s.io_Hierarchy"
	for _, block := range page.Blocks {
		var settings map[string]string
		if err := yaml.Unmarshal([]byte(block.Text), &settings); err == nil && settings[key] != "" {
			return settings[key]
		}
	}
	t.Fatal("the page shows no health check")
	return ""
}

// health runs a health check as Argo CD does, and returns the status.
func health(t *testing.T, script string, o *unstructured.Unstructured) string {
	t.Helper()
	state := lua.NewState()
	defer state.Close()
	state.SetGlobal("obj", luaValue(state, o.Object))
	if err := state.DoString(script); err != nil {
		t.Fatal(err)
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatal("the health check returns no table")
	}
	return table.RawGetString("status").String()
}

func luaValue(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, field := range value {
			table.RawSetString(key, luaValue(state, field))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, item := range value {
			table.Append(luaValue(state, item))
		}
		return table
	case string:
		return lua.LString(value)
	case bool:
		return lua.LBool(value)
	case int64:
		return lua.LNumber(value)
	case float64:
		return lua.LNumber(value)
	}
	return lua.LNil
}
