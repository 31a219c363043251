package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// roles writes the page of the ClusterRoles for users: those of the manifests, each with the comment above it.
func roles() (string, error) {
	source, err := os.ReadFile("artifacts/base/rbac-users.yaml")
	if err != nil {
		return "", err
	}
	var page strings.Builder
	page.WriteString("# ClusterRoles for users\n\nWhat Kubernetes' roles `view`, `edit` and `admin` include of HNS, the roles that you bind yourself, and " +
		"[permissions that no resource shows](#permissions-that-no-resource-shows). [Permissions](../permissions.md) says what each change requires.\n")
	var granted []grantedRole
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(source)))
	for {
		document, err := documents.Read()
		if len(document) == 0 {
			unlisted(&page, granted)
			return page.String(), nil
		}
		if err != nil {
			return "", err
		}
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal(document, &role); err != nil {
			return "", err
		}
		if role.Kind != "ClusterRole" {
			continue
		}
		title, name := code(role.Name), role.Name
		for label := range role.Labels {
			if into, ok := strings.CutPrefix(label, "rbac.authorization.k8s.io/aggregate-to-"); ok {
				title += ", part of " + code(into)
				name = into
			}
		}
		granted = append(granted, grantedRole{name, role.Rules})
		fmt.Fprintf(&page, "\n## %s\n\n%s\n\n| Resources | Verbs |\n| --- | --- |\n", title, comment(string(document)))
		for _, rule := range role.Rules {
			resources := slices.Concat(rule.NonResourceURLs, rule.Resources)
			for i := range resources {
				if len(rule.APIGroups) > 0 && rule.APIGroups[0] != "hnc.x-k8s.io" {
					resources[i] += "." + rule.APIGroups[0]
				}
				resources[i] = code(resources[i])
			}
			fmt.Fprintf(&page, "| %s | %s |\n", strings.Join(resources, ", "), strings.Join(rule.Verbs, ", "))
		}
	}
}

// grantedRole is a role that users are bound to, with rules that it has.
type grantedRole struct {
	name  string
	rules []rbacv1.PolicyRule
}

// unlisted writes the permissions that discovery does not list, with the roles that have them.
func unlisted(page *strings.Builder, roles []grantedRole) {
	page.WriteString("\n## Permissions that no resource shows\n\n`kubectl api-resources` does not list these subresources and verbs.\n\n" +
		"| Permission | In | Lets you | In the role |\n| --- | --- | --- | --- |\n")
	for _, permission := range hnc.Permissions() {
		for i, effect := range permission.Effects {
			has := ""
			if i == 0 {
				has = rolesWith(permission, roles)
			}
			fmt.Fprintf(page, "| %s on %s | %s | %s | %s |\n", strings.Join(permission.Verbs, ", "), code(permission.String()), effect.In, effect.Allows, has)
		}
	}
	page.WriteString("\n`edit` includes `view`, and `admin` both.\n")
}

// rolesWith returns the roles that have a permission, each with its verbs if these are not all.
func rolesWith(permission hnc.Permission, roles []grantedRole) string {
	var has []string
	for _, role := range roles {
		for _, rule := range role.rules {
			if !slices.Contains(rule.APIGroups, permission.Group) || !slices.Contains(rule.Resources, permission.Name()) {
				continue
			}
			verbs := slices.DeleteFunc(slices.Clone(permission.Verbs), func(verb string) bool { return !slices.Contains(rule.Verbs, verb) })
			switch {
			case len(verbs) == len(permission.Verbs):
				has = append(has, code(role.name))
			case len(verbs) > 0:
				has = append(has, code(role.name)+": "+strings.Join(verbs, ", "))
			}
		}
	}
	return strings.Join(has, "; ")
}
