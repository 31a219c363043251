package rbac

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	kjson "sigs.k8s.io/json"
)

// Scopes returns the groups that have a resource, and whether it is namespaced there.
type Scopes func(resource string) map[string]bool

// effective returns the rules of a ClusterRole that a Role can have: those about objects in namespaces. What is not
// known may be. Left are descriptions of what is left out.
func effective(rules []rbacv1.PolicyRule, scopes Scopes) (kept []rbacv1.PolicyRule, left []string) {
	kept = []rbacv1.PolicyRule{}
	for _, rule := range rules {
		if len(rule.NonResourceURLs) > 0 {
			left = append(left, rule.NonResourceURLs...)
			rule.NonResourceURLs = nil
			if len(rule.Resources) == 0 {
				continue
			}
		}
		groups := map[string]bool{}
		for _, group := range rule.APIGroups {
			groups[group] = true
		}
		before := len(rule.Resources)
		rule.Resources = slices.DeleteFunc(slices.Clone(rule.Resources), func(resource string) bool {
			if !clusterScoped(resource, groups, scopes) {
				return false
			}
			left = append(left, resource)
			return true
		})
		if len(rule.Resources) > 0 || before == 0 {
			kept = append(kept, rule)
		}
	}
	return kept, left
}

// clusterScoped reports whether no object that a rule about some groups selects is in a namespace. Permissions for
// namespaces can be granted in them.
func clusterScoped(resource string, groups map[string]bool, scopes Scopes) bool {
	plural, _, _ := strings.Cut(resource, "/")
	if plural == "namespaces" && groups[""] {
		return false
	}
	found := false
	for group, namespaced := range scopes(plural) {
		if !groups[group] {
			continue
		}
		if namespaced {
			return false
		}
		found = true
	}
	return found
}

// written returns the rules that a client has written, if the annotation of a Role has them, and all that a Role can
// have of them are those of this Role, and no others: who may change a Role may change its annotation, and who reads it
// may write it back.
func written(annotation string, stored []rbacv1.PolicyRule, scopes Scopes) ([]rbacv1.PolicyRule, bool) {
	all, err := decodeRules([]byte(annotation))
	if err != nil || len(all) == 0 {
		return nil, false
	}
	kept, left := effective(all, scopes)
	return all, len(left) > 0 && apiequality.Semantic.DeepEqual(kept, append([]rbacv1.PolicyRule{}, stored...))
}

// decodeRules decodes rules as kube-apiserver does: keys in another case, which its decoder does not know, are errors.
func decodeRules(encoded []byte) ([]rbacv1.PolicyRule, error) {
	var rules []rbacv1.PolicyRule
	unknown, err := kjson.UnmarshalStrict(encoded, &rules)
	if err == nil && len(unknown) > 0 {
		err = unknown[0]
	}
	return rules, err
}
