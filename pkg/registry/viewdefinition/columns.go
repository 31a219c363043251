package viewdefinition

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The limits of printer columns. kube-apiserver prints each of them for each object of a table, and a field as often as
// columns print it.
const (
	maxColumns = 32
	// maxColumnsOfField is how many columns may print fields of different elements of a list: which elements these are
	// depends on the object, and all may be the same one.
	maxColumnsOfField = 8
)

// step is a part of the path of a column: a field, a quoted field, elements of a list, or a comparison with a text.
// kube-apiserver prints the first of several results.
var step = regexp.MustCompile(`^(?:` +
	`\.((?:[A-Za-z0-9_/-]|\\\.)+)` +
	`|\['((?:[A-Za-z0-9_/-]|\\\.)+)'\]` +
	`|(\[(?:\*|-?[0-9]{1,9})\])` +
	`|(\[\?\( *@\.[A-Za-z0-9_-]+ *== *(?:"[^"'\\]*"|'[^"'\\]*') *\)\])` +
	`)`)

// metadata has the scalars of metadata, which schemas don't have.
var metadata = apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
	"name": {Type: "string"}, "namespace": {Type: "string"}, "generateName": {Type: "string"}, "uid": {Type: "string"},
	"resourceVersion": {Type: "string"}, "generation": {Type: "integer"}, "creationTimestamp": {Type: "string"}, "deletionTimestamp": {Type: "string"},
	"labels": texts, "annotations": texts,
}}

var texts = apiextensionsv1.JSONSchemaProps{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}}}

// validateColumns requires that each column prints at most one scalar of an object, or one list of them.
func validateColumns(version *apiextensionsv1.CustomResourceDefinitionVersion, at *field.Path) field.ErrorList {
	columns := version.AdditionalPrinterColumns
	if len(columns) > maxColumns {
		return field.ErrorList{field.TooMany(at, len(columns), maxColumns)}
	}
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return nil // The schema is required.
	}
	var errs field.ErrorList
	printed := map[string]int{}
	for i, column := range columns {
		path := at.Index(i).Child("jsonPath")
		of, err := scalarAt(version.Schema.OpenAPIV3Schema, column.JSONPath)
		if err != nil {
			errs = append(errs, field.Invalid(path, column.JSONPath, err.Error()))
			continue
		}
		if printed[of]++; printed[of] > maxColumnsOfField {
			errs = append(errs, field.Invalid(path, column.JSONPath, fmt.Sprintf("at most %d columns may print the field %s; remove others", maxColumnsOfField, of)))
		}
	}
	return errs
}

// scalarAt returns the field that a path leads to, without the elements of lists that it selects.
func scalarAt(root *apiextensionsv1.JSONSchemaProps, path string) (of string, err error) {
	rest, at := path, root
	for rest != "" {
		found := step.FindStringSubmatch(rest)
		if found == nil {
			return "", fmt.Errorf(`%q is not supported; use names of fields, indexes, and filters such as [?(@.type=="Ready")]`, rest)
		}
		rest = rest[len(found[0]):]
		if name := strings.ReplaceAll(found[1]+found[2], `\.`, "."); name == "" {
			at = elements(at)
		} else {
			at, of = property(root, at, name), of+"."+name
		}
		if at == nil {
			return "", fmt.Errorf("the schema has nothing at %q; add it to the schema, or remove the column", strings.TrimSuffix(path, rest))
		}
	}
	if items := elements(at); isScalar(at) || at.Type == "array" && items != nil && isScalar(items) {
		return of, nil
	}
	return "", errors.New("must lead to a string, integer, number or boolean of the schema, or a list of them; print one of its fields, or remove the column")
}

func isScalar(s *apiextensionsv1.JSONSchemaProps) bool {
	switch s.Type {
	case "string", "integer", "number", "boolean":
		return true
	}
	return s.XIntOrString
}

// elements returns the schema of the elements of a list, nil if it is none.
func elements(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	if s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

// property returns the schema of a field, nil if there is none.
func property(root, s *apiextensionsv1.JSONSchemaProps, name string) *apiextensionsv1.JSONSchemaProps {
	if s == root {
		switch name {
		case "metadata":
			return &metadata
		case "apiVersion", "kind":
			return &apiextensionsv1.JSONSchemaProps{Type: "string"}
		}
	}
	if found, ok := s.Properties[name]; ok {
		return &found
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Schema
	}
	return nil
}
