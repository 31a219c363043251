package main

import (
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// chart writes the README of the Helm chart: its values with their defaults and comments.
func chart() (string, error) {
	source, err := os.ReadFile("artifacts/chart/values.yaml")
	if err != nil {
		return "", err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(source, &document); err != nil {
		return "", err
	}
	var page strings.Builder
	page.WriteString("# Chart of HNS\n\nInstalls Hierarchical Namespaces into the namespace `hns-system` of a cluster, Kubernetes 1.36 or later:\n\n" +
		"```sh\nhelm install hns oci://registry.example.com/hierarchy/charts/hns --namespace hns-system --create-namespace\n```\n\n" +
		"Until there is a release, install it from a clone of the repository, with images that you have pushed:\n\n" +
		"```sh\nhelm install hns artifacts/chart --namespace hns-system --create-namespace \\\n" +
		"  --set image.registry=registry.example.com/hierarchy --set image.tag=TAG\n```\n\n" +
		"Before, check the cluster with `kubectl hns preflight`. See\n" +
		"[the page about installation](https://github.com/hierarchy-apiserver/hierarchy-apiserver/blob/main/docs/install.md).\n\n" +
		"## Values\n\n| Value | Default | Meaning |\n| --- | --- | --- |\n")
	rows(&page, "", document.Content[0])
	return page.String(), nil
}

// rows writes a row for each value that has no values below it, or a comment.
func rows(page *strings.Builder, prefix string, node *yaml.Node) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		path := prefix + key.Value
		text := strings.TrimSpace(strings.ReplaceAll(strings.TrimPrefix(key.HeadComment, "#"), "\n#", "\n"))
		nested := value.Kind == yaml.MappingNode && len(value.Content) > 0 && value.Style&yaml.FlowStyle == 0
		if nested {
			if text != "" {
				fmt.Fprintf(page, "| `%s` | | %s |\n", path, cell(text))
			}
			rows(page, path+".", value)
			continue
		}
		fmt.Fprintf(page, "| `%s` | %s | %s |\n", path, code(inline(value)), cell(text))
	}
}

// inline returns a value on one line.
func inline(node *yaml.Node) string {
	if node.Kind == yaml.ScalarNode {
		if node.Value == "" {
			return `""`
		}
		return node.Value
	}
	node.HeadComment = ""
	node.Style = yaml.FlowStyle
	out, err := yaml.Marshal(node)
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(out)), " ")
}
