package propagation

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// view is what users see.
type view struct {
	*scope
}

// get returns an object, an empty one if there is none.
func (v *view) get(resource, namespace, name string) *unstructured.Unstructured {
	client := admin.Dynamic.Resource(resources[resource])
	if namespace == "" {
		u, err := client.Get(v.t.Context(), name, metav1.GetOptions{})
		return found(u, err)
	}
	u, err := client.Namespace(v.full(namespace)).Get(v.t.Context(), name, metav1.GetOptions{})
	return found(u, err)
}

func found(u *unstructured.Unstructured, err error) *unstructured.Unstructured {
	if err != nil {
		return &unstructured.Unstructured{Object: object{}}
	}
	return u
}

// list returns the objects of a resource in a namespace, or in all namespaces of the test.
func (v *view) list(resource, namespace string) []unstructured.Unstructured {
	list, err := admin.Dynamic.Resource(resources[resource]).Namespace(v.full(namespace)).List(v.t.Context(), metav1.ListOptions{})
	if err != nil {
		v.t.Errorf("listing %s: %v", resource, err)
		return nil
	}
	return slices.DeleteFunc(list.Items, func(u unstructured.Unstructured) bool {
		at := u.GetNamespace()
		if resource == "namespaces" {
			at = u.GetName()
		}
		return at != v.full(namespace) && !strings.HasPrefix(at, v.prefix)
	})
}

// objects returns the objects of a resource in a namespace as "name=value<source" in order.
func (v *view) objects(resource, namespace string) string {
	var words []string
	for _, u := range v.list(resource, namespace) {
		word := u.GetName() + "=" + valueOf(u)
		if from, ok := u.GetLabels()[hnc.LabelInheritedFrom]; ok {
			word += "<" + from
		}
		words = append(words, word)
	}
	slices.Sort(words)
	return v.short(strings.Join(words, " "))
}

// valueOf returns the value of an object, which for a Role is the verb.
func valueOf(u unstructured.Unstructured) string {
	rules, _, _ := unstructured.NestedSlice(u.Object, "rules")
	if len(rules) > 0 {
		return fmt.Sprint(rules[0].(object)["verbs"].([]any)[0])
	}
	value, _, _ := unstructured.NestedString(u.Object, "data", "value")
	if u.GetKind() == "Secret" {
		decoded, _ := base64.StdEncoding.DecodeString(value)
		return string(decoded)
	}
	return value
}

func (v *view) eventuallyObjects(resource, namespace, want string) {
	v.t.Helper()
	v.eventually(resource+" of "+namespace, want, func() string { return v.objects(resource, namespace) })
}

func (v *view) wantObjects(resource, namespace, want string) {
	v.t.Helper()
	if got := v.objects(resource, namespace); got != want {
		v.t.Errorf("%s of %s: %q, want %q", resource, namespace, got, want)
	}
}

// eventuallyLabel waits for the label of a namespace; want is "" for none.
func (v *view) eventuallyLabel(namespace, key, want string) {
	v.t.Helper()
	v.eventually(key+" of "+namespace, want, func() string { return v.get("namespaces", "", v.full(namespace)).GetLabels()[key] })
}

// state returns the state and the Ready condition of a Subnamespace.
func (v *view) state(parent, name string) string {
	u := v.get("subnamespaces", parent, v.full(name))
	state, _, _ := unstructured.NestedString(u.Object, "status", "state")
	for _, c := range conditions(u) {
		if c["type"] == hnc.ConditionReady {
			state += fmt.Sprintf(" %s=%s %s", c["type"], c["status"], c["reason"])
		}
	}
	return state
}

func (v *view) eventuallyReady(parent, name string) {
	v.t.Helper()
	v.eventually(name, "Ok Ready=True Ready", func() string { return v.state(parent, name) })
}

func conditions(u *unstructured.Unstructured) []object {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	var conditions []object
	for _, entry := range list {
		conditions = append(conditions, entry.(object))
	}
	return conditions
}

// condition returns "reason: message" of a condition that is True, of the hierarchy of a namespace or, for "", of the
// configuration.
func (v *view) condition(namespace, conditionType string) string {
	u := v.get("hncconfigurations", "", hnc.ConfigurationName)
	if namespace != "" {
		u = v.get("hierarchies", namespace, hnc.Singleton)
	}
	for _, c := range conditions(u) {
		if c["type"] == conditionType && c["status"] == "True" {
			return v.short(fmt.Sprintf("%v: %v", c["reason"], c["message"]))
		}
	}
	return ""
}

// eventuallyReason waits for the reason of a condition, "" for none.
func (v *view) eventuallyReason(namespace, conditionType, want string) {
	v.t.Helper()
	v.eventually(conditionType+" of "+namespace, want, func() string {
		reason, _, _ := strings.Cut(v.condition(namespace, conditionType), ":")
		return reason
	})
}

// children returns those that the status of a Hierarchy lists.
func (v *view) children(namespace string) []string {
	children, _, _ := unstructured.NestedStringSlice(v.get("hierarchies", namespace, hnc.Singleton).Object, "status", "children")
	return children
}

// configured returns what the status of the configuration says of a resource, as "mode propagated/sources", and "-" for
// an absent number.
func (v *view) configured(resource string) string {
	list, _, _ := unstructured.NestedSlice(v.get("hncconfigurations", "", hnc.ConfigurationName).Object, "status", "resources")
	for _, entry := range list {
		e := entry.(object)
		if e["resource"] != resource {
			continue
		}
		number := func(key string) string {
			if n, ok := e[key]; ok {
				return fmt.Sprint(n)
			}
			return "-"
		}
		return fmt.Sprintf("%v %s/%s", e["mode"], number("numPropagatedObjects"), number("numSourceObjects"))
	}
	return "not active"
}

func (v *view) eventuallyConfigured(resource, want string) {
	v.t.Helper()
	v.eventually("status of "+resource, want, func() string { return v.configured(resource) })
}
