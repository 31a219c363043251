package rbac

import (
	"encoding/json"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Scopes returns the groups that have a resource, and whether it is namespaced there.
type Scopes func(resource string) map[string]bool

// effective returns the rules of a ClusterRole that a Role can have: those about objects in namespaces. What is not known
// may be. Left are descriptions of what is left out.
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

// written returns the rules that a client has written, if the annotation of a Role has them: all that are in effect are
// among them. Anybody who may change the Role may change its annotation, so it can only add what has no effect.
func written(annotation string, stored []rbacv1.PolicyRule) ([]rbacv1.PolicyRule, bool) {
	var all []rbacv1.PolicyRule
	if annotation == "" || json.Unmarshal([]byte(annotation), &all) != nil {
		return nil, false
	}
	next := 0
	for _, rule := range all {
		if next < len(stored) && contains(rule, stored[next]) {
			next++
		}
	}
	return all, next == len(stored)
}

// contains reports whether a rule is another one with more resources.
func contains(rule, stored rbacv1.PolicyRule) bool {
	if !slices.Equal(rule.Verbs, stored.Verbs) || !slices.Equal(rule.APIGroups, stored.APIGroups) || !slices.Equal(rule.ResourceNames, stored.ResourceNames) {
		return false
	}
	next := 0
	for _, resource := range rule.Resources {
		if next < len(stored.Resources) && resource == stored.Resources[next] {
			next++
		}
	}
	return next == len(stored.Resources) && len(stored.NonResourceURLs) == 0
}
