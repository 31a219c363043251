package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// Waits reports whether an object is applied only after the rest of its namespace, which may restrict what it grants.
// Permissions in the whole cluster do not wait: the rest of the repository may need them, for example for its webhooks.
func (id ID) Waits() bool { return id.Grants() && id.Namespace != "" }

// Within returns the namespace that the object is in, or is; "" for other objects outside namespaces.
func (id ID) Within() string {
	if id.Kind == object.Namespace {
		return id.Name
	}
	return id.Namespace
}

// Reduces reports whether applying the object to its live state grants nothing new: no other subject, rule or
// namespace that it is propagated to. If in doubt, it does not.
func (o *Object) Reduces(live *unstructured.Unstructured) bool {
	if o.Handling == CreateOnly {
		return true
	}
	wanted := o.Content()
	return propagation(wanted) == propagation(live) && subjectsWithin(wanted, live) && rulesWithin(wanted, live)
}

// propagation returns what decides where an object is propagated.
func propagation(o *unstructured.Unstructured) string {
	var set []string
	for key, value := range o.GetAnnotations() {
		if prefix, _, _ := strings.Cut(key, "/"); prefix == "propagate.hnc.x-k8s.io" {
			set = append(set, key+"="+value)
		}
	}
	slices.Sort(set)
	return strings.Join(set, "\n")
}

// subjectsWithin compares RoleBindings. Other objects of RBAC have no subjects.
func subjectsWithin(wanted, live *unstructured.Unstructured) bool {
	var a, b rbacv1.RoleBinding
	if decode(wanted, &a) != nil || decode(live, &b) != nil || a.RoleRef.Kind != b.RoleRef.Kind || a.RoleRef.Name != b.RoleRef.Name {
		return false
	}
	have := make(map[rbacv1.Subject]bool, len(b.Subjects))
	for _, subject := range b.Subjects {
		have[withoutGroup(subject)] = true
	}
	return !slices.ContainsFunc(a.Subjects, func(want rbacv1.Subject) bool { return !have[withoutGroup(want)] })
}

// withoutGroup returns a subject without its group, which the API server sets by its kind.
func withoutGroup(s rbacv1.Subject) rbacv1.Subject {
	s.APIGroup = ""
	return s
}

// maxRuleComparisons limits how often values of rules are compared.
const maxRuleComparisons = 1 << 20

// rulesWithin compares Roles. Other objects of RBAC in namespaces have no rules. Very large ones count as granting
// something new.
func rulesWithin(wanted, live *unstructured.Unstructured) bool {
	var a, b rbacv1.Role
	if decode(wanted, &a) != nil || decode(live, &b) != nil || valuesOf(a.Rules)*valuesOf(b.Rules) > maxRuleComparisons {
		return false
	}
	return containsEach(b.Rules, a.Rules, func(have, want rbacv1.PolicyRule) bool {
		// Without names, a rule is about all objects.
		names := len(have.ResourceNames) == 0 || len(want.ResourceNames) > 0 && containsAll(have.ResourceNames, want.ResourceNames)
		return names && containsAll(have.Verbs, want.Verbs) && containsAll(have.APIGroups, want.APIGroups) &&
			containsAll(have.Resources, want.Resources) && containsAll(have.NonResourceURLs, want.NonResourceURLs)
	})
}

// valuesOf returns the number of values of rules.
func valuesOf(rules []rbacv1.PolicyRule) int {
	n := len(rules)
	for _, r := range rules {
		n += len(r.Verbs) + len(r.APIGroups) + len(r.Resources) + len(r.ResourceNames) + len(r.NonResourceURLs)
	}
	return n
}

func decode(o *unstructured.Unstructured, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, into)
}

// containsEach reports whether each element of wanted is covered by one of have.
func containsEach[T any](have, wanted []T, covers func(have, want T) bool) bool {
	return !slices.ContainsFunc(wanted, func(want T) bool {
		return !slices.ContainsFunc(have, func(one T) bool { return covers(one, want) })
	})
}

func containsAll(have, wanted []string) bool {
	return containsEach(have, wanted, func(have, want string) bool { return have == "*" || have == want })
}

// LeftOut returns, by namespace, an object that is in the namespace or inherited by it, and left out because its kind
// is unknown.
func LeftOut(errors report.Errors, desired []*Object) map[string]string {
	byDirectory := map[string]string{}
	for _, err := range errors {
		for _, source := range err.Sources {
			if err.Code == report.UnknownKind {
				byDirectory[path.Dir(source.Path)] = fmt.Sprintf("%s %s of unknown kind in %s", source.Kind, source.Name, source.Path)
			}
		}
	}
	left := map[string]string{}
	if len(byDirectory) == 0 {
		return left
	}
	for _, o := range desired {
		if o.Kind != object.Namespace {
			continue
		}
		for dir := path.Dir(o.Path); dir != "." && dir != "/"; dir = path.Dir(dir) {
			if one, exists := byDirectory[dir]; exists {
				left[o.Name] = one
			}
		}
	}
	return left
}
