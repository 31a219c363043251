package plan

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// Waits reports whether an object is applied only after the rest of its namespace, which may restrict what it grants.
// Permissions in the whole cluster do not wait: the rest of the repository may need them, for example for its webhooks.
func (id ID) Waits() bool { return id.Grants() && id.Namespace != "" }

// Aggregated reports whether a controller writes the rules of a ClusterRole.
func (o *Object) Aggregated() bool { return o.source.Object["aggregationRule"] != nil }

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
	spread := propagation(wanted)
	var a, b grants
	return (spread[hnc.AnnotationNone] == "true" || maps.Equal(spread, propagation(live))) && a.decode(wanted) == nil && b.decode(live) == nil && a.sameRole(b) &&
		len(outside(a.Subjects, b.Subjects)) == 0 && (a.sameRules(b) || !tooLarge(a, b) && rulesWithin(a.Rules, b.Rules))
}

// Narrow returns the object with only those subjects or rules that its live state has, too, and not propagated if that is
// propagated otherwise, so that applying it takes away what the object does not grant; nil if it is for another role. It
// also reports whether the live state grants more than that. Of very large rules that differ, none are left.
func (o *Object) Narrow(live *unstructured.Unstructured) (narrowed *Object, grantsMore bool) {
	source := *o.source
	source.Unstructured = *source.DeepCopy()
	var want, have grants
	if want.decode(&source.Unstructured) != nil || have.decode(live) != nil {
		return nil, false
	}
	if !want.sameRole(have) {
		return nil, true
	}
	if o.Namespace == "" {
		grantsMore = len(o.Aggregations(live)) > 0
		source.SetLabels(labelsWithin(source.GetLabels(), live.GetLabels()))
	} else if spread := propagation(live); !maps.Equal(spread, propagation(&source.Unstructured)) {
		// Which namespaces two selectors have in common is not known.
		grantsMore = spread[hnc.AnnotationNone] != "true"
		annotations := source.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		maps.DeleteFunc(annotations, func(key, _ string) bool { return propagates(key) })
		annotations[hnc.AnnotationNone] = "true"
		source.SetAnnotations(annotations)
	}
	if have.RoleRef.Name != "" {
		taken := outside(have.Subjects, want.Subjects)
		source.Object["subjects"] = listOf(outside(have.Subjects, taken))
		grantsMore = grantsMore || len(taken) > 0
	} else {
		rules := want.Rules
		if !want.sameRules(have) {
			rules = common(have, want)
			grantsMore = grantsMore || !rulesWithin(have.Rules, rules)
		}
		source.Object["rules"] = listOf(rules)
	}
	result := *o
	// The object as it is in the repository still has to be applied.
	result.source, result.Hash = &source, 0
	return &result, grantsMore
}

// labelsWithin returns labels without those that an object does not have yet: nothing new selects it by them.
func labelsWithin(labels, has map[string]string) map[string]string {
	within := map[string]string{}
	for key, value := range labels {
		if was, exists := has[key]; exists && (was == value || !aggregates(key)) {
			within[key] = was
		}
	}
	return within
}

// Aggregations returns the labels of the live state of a ClusterRole by which others have its rules, and which the object
// does not have.
func (o *Object) Aggregations(live *unstructured.Unstructured) (keys []string) {
	labels := o.Content().GetLabels()
	for key, value := range live.GetLabels() {
		if aggregates(key) && labels[key] != value {
			keys = append(keys, key)
		}
	}
	return keys
}

func aggregates(label string) bool { return strings.Contains(label, "/aggregate-to-") }

// propagation returns the annotations that decide where an object is propagated.
func propagation(o *unstructured.Unstructured) map[string]string {
	set := map[string]string{}
	for key, value := range o.GetAnnotations() {
		if propagates(key) {
			set[key] = value
		}
	}
	return set
}

// Redirections returns those of an object's annotations that decide where it is propagated and that the repository does
// not set.
func (o *Object) Redirections(annotations map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(annotations)), func(key string) bool {
		_, set := o.source.Annotation(key)
		return set || !propagates(key)
	})
}

func propagates(annotation string) bool {
	return strings.HasPrefix(annotation, "propagate.hnc.x-k8s.io/")
}

// grants is what a Role, a RoleBinding, or one of their kinds for the whole cluster grants.
type grants struct {
	RoleRef  rbacv1.RoleRef      `json:"roleRef"`
	Subjects []rbacv1.Subject    `json:"subjects"`
	Rules    []rbacv1.PolicyRule `json:"rules"`
}

func (g *grants) decode(o *unstructured.Unstructured) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, g)
}

func (g *grants) sameRole(as grants) bool {
	return g.RoleRef.Kind == as.RoleRef.Kind && g.RoleRef.Name == as.RoleRef.Name
}

func (g *grants) sameRules(as grants) bool { return apiequality.Semantic.DeepEqual(g.Rules, as.Rules) }

// outside returns the subjects that are not among others. The API server sets their groups by their kinds.
func outside(subjects, others []rbacv1.Subject) []rbacv1.Subject {
	have := make(map[rbacv1.Subject]bool, len(others))
	for _, subject := range others {
		subject.APIGroup = ""
		have[subject] = true
	}
	return slices.DeleteFunc(slices.Clone(subjects), func(subject rbacv1.Subject) bool {
		subject.APIGroup = ""
		return have[subject]
	})
}

const (
	// maxRuleComparisons limits how often values of rules are compared.
	maxRuleComparisons = 1 << 20
	// maxCommonValues limits the rules that two Roles have in common, which may be as many as their pairs.
	maxCommonValues = 1 << 12
)

// tooLarge reports whether the rules of two Roles are not compared, unless they are the same. They count as granting
// something new.
func tooLarge(a, b grants) bool { return valuesOf(a.Rules)*valuesOf(b.Rules) > maxRuleComparisons }

// rulesWithin reports whether each rule is covered by one of others.
func rulesWithin(rules, others []rbacv1.PolicyRule) bool {
	return containsEach(others, rules, func(have, want rbacv1.PolicyRule) bool {
		return containsAll(namesOf(have), namesOf(want)) && containsAll(have.Verbs, want.Verbs) && containsAll(have.APIGroups, want.APIGroups) &&
			containsAll(have.Resources, want.Resources) && containsAll(have.NonResourceURLs, want.NonResourceURLs)
	})
}

// common returns the rules that two Roles have in common.
func common(a, b grants) []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	if tooLarge(a, b) {
		return nil
	}
	for _, one := range a.Rules {
		for _, other := range b.Rules {
			rule := rbacv1.PolicyRule{
				Verbs: both(one.Verbs, other.Verbs), APIGroups: both(one.APIGroups, other.APIGroups), Resources: both(one.Resources, other.Resources),
				ResourceNames: both(namesOf(one), namesOf(other)),
			}
			if urls := both(one.NonResourceURLs, other.NonResourceURLs); min(len(rule.Verbs), len(urls)) > 0 {
				rules = append(rules, rbacv1.PolicyRule{Verbs: rule.Verbs, NonResourceURLs: urls})
			}
			if min(len(rule.Verbs), len(rule.APIGroups), len(rule.Resources), len(rule.ResourceNames)) > 0 {
				if slices.Contains(rule.ResourceNames, all) {
					rule.ResourceNames = nil
				}
				rules = append(rules, rule)
			}
		}
		if valuesOf(rules) > maxCommonValues {
			return nil
		}
	}
	return rules
}

// all stands for all values of a rule.
const all = "*"

// namesOf returns the names of a rule, which is about all objects if it has none.
func namesOf(r rbacv1.PolicyRule) []string {
	if len(r.ResourceNames) == 0 {
		return []string{all}
	}
	return slices.DeleteFunc(slices.Clone(r.ResourceNames), func(name string) bool { return name == all })
}

// both returns the values that two lists of a rule have in common.
func both(a, b []string) []string {
	switch {
	case slices.Contains(a, all):
		return b
	case slices.Contains(b, all):
		return a
	}
	return slices.DeleteFunc(slices.Clone(a), func(value string) bool { return !slices.Contains(b, value) })
}

// listOf returns values as the content of an object.
func listOf[T any](values []T) []any {
	list := make([]any, 0, len(values))
	for i := range values {
		if one, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&values[i]); err == nil {
			list = append(list, one)
		}
	}
	return list
}

// valuesOf returns the number of values of rules.
func valuesOf(rules []rbacv1.PolicyRule) int {
	n := len(rules)
	for _, r := range rules {
		n += len(r.Verbs) + len(r.APIGroups) + len(r.Resources) + len(r.ResourceNames) + len(r.NonResourceURLs)
	}
	return n
}

// containsEach reports whether each element of wanted is covered by one of have.
func containsEach[T any](have, wanted []T, covers func(have, want T) bool) bool {
	return !slices.ContainsFunc(wanted, func(want T) bool {
		return !slices.ContainsFunc(have, func(one T) bool { return covers(one, want) })
	})
}

func containsAll(have, wanted []string) bool {
	return containsEach(have, wanted, func(have, want string) bool { return have == all || have == want })
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
