package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/openapi"
)

// api writes the page of the API: the fields of each kind, from the OpenAPI definitions.
func api() (string, error) {
	definitions := openapi.GetOpenAPIDefinitions(func(path string) spec.Ref { return spec.MustCreateRef("#/definitions/" + path) })
	var page strings.Builder
	page.WriteString("# API\n\nThe fields of each kind of `hnc.x-k8s.io`, as `kubectl explain` shows them. `v1alpha2` is HNC's API over the same objects.\n")
	var models []string
	for name := range definitions {
		if strings.Contains(name, ".hnc.v") && !strings.HasSuffix(name, "List") {
			models = append(models, name)
		}
	}
	if len(models) == 0 {
		return "", errors.New("the OpenAPI has no definition of ours")
	}
	slices.SortFunc(models, func(a, b string) int { return strings.Compare(order(a), order(b)) })
	version := ""
	for _, name := range models {
		v, kind := split(name)
		if v != version {
			version = v
			fmt.Fprintf(&page, "\n## %s\n", version)
		}
		writeModel(&page, version, kind, definitions[name].Schema)
	}
	return page.String(), nil
}

// split returns the version and the type of a model's name.
func split(name string) (version, kind string) {
	parts := strings.Split(name, ".")
	return parts[len(parts)-2], parts[len(parts)-1]
}

// order sorts the newest version first.
func order(name string) string {
	version, kind := split(name)
	rank := map[string]string{"v1beta1": "0", "v1alpha3": "1", "v1alpha2": "2"}[version]
	return rank + kind
}

// writeModel writes the section of a type.
func writeModel(page *strings.Builder, version, kind string, model spec.Schema) {
	fmt.Fprintf(page, "\n### %s %s\n\n%s\n", kind, version, cell(model.Description))
	if len(model.Properties) == 0 {
		return
	}
	page.WriteString("\n| Field | Type | Meaning |\n| --- | --- | --- |\n")
	for _, field := range slices.Sorted(maps.Keys(model.Properties)) {
		if field == "apiVersion" || field == "kind" || field == "metadata" {
			continue
		}
		property := model.Properties[field]
		text := cell(property.Description)
		if value := property.Default; value != nil && fmt.Sprint(value) != "" && !strings.HasPrefix(fmt.Sprint(value), "map[") {
			text += fmt.Sprintf(" Default: %s.", code(fmt.Sprint(value)))
		}
		if slices.Contains(model.Required, field) {
			text += " Required."
		}
		fmt.Fprintf(page, "| `%s` | %s | %s |\n", field, typeOf(property, version), text)
	}
}

// typeOf returns the type of a field, with a link to its section if it is ours.
func typeOf(property spec.Schema, version string) string {
	ref := property.Ref.String()
	if len(property.AllOf) == 1 {
		ref = property.AllOf[0].Ref.String()
	}
	switch {
	case ref != "":
		_, kind := split(ref)
		if strings.Contains(ref, ".hnc."+version+".") {
			return fmt.Sprintf("[%s](#%s-%s)", kind, strings.ToLower(kind), version)
		}
		return kind
	case property.Items != nil && property.Items.Schema != nil:
		return "list of " + typeOf(*property.Items.Schema, version)
	case property.AdditionalProperties != nil && property.AdditionalProperties.Schema != nil:
		return "map of " + typeOf(*property.AdditionalProperties.Schema, version)
	case len(property.Type) > 0:
		return property.Type[0]
	}
	return "any"
}
