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
)

// roles writes the page of the ClusterRoles for users: those of the manifests, each with the comment above it.
func roles() (string, error) {
	source, err := os.ReadFile("artifacts/base/rbac-users.yaml")
	if err != nil {
		return "", err
	}
	var page strings.Builder
	page.WriteString("# ClusterRoles for users\n\nWhat Kubernetes' roles `view`, `edit` and `admin` include of HNS, and the roles that you bind yourself. " +
		"[Permissions](../permissions.md) says what each change requires.\n")
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(source)))
	for {
		document, err := documents.Read()
		if len(document) == 0 {
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
		title := "`" + role.Name + "`"
		for label := range role.Labels {
			if into, ok := strings.CutPrefix(label, "rbac.authorization.k8s.io/aggregate-to-"); ok {
				title += ", part of `" + into + "`"
			}
		}
		fmt.Fprintf(&page, "\n## %s\n\n%s\n\n| Resources | Verbs |\n| --- | --- |\n", title, commentAbove(document))
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

// commentAbove returns the comment at the top of a document.
func commentAbove(document []byte) string {
	var lines []string
	for line := range strings.Lines(string(document)) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "# ")
		if !ok {
			break
		}
		lines = append(lines, text)
	}
	return cell(strings.Join(lines, " "))
}
