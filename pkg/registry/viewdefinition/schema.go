package viewdefinition

import (
	"encoding/json"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The limits of what kube-apiserver has for each element of a list or map, or builds for each that is not valid: errors
// have the path, the value, and the pattern, the values or the message that the schema has for it. It validates all
// elements, and adds their defaults, before it looks at maxItems and maxProperties; and it evaluates rules for lists
// that are longer than that if an update does not change them. The cost of rules that it estimates bounds none of this:
// a constant costs nothing.
const (
	maxPath               = 512 // bytes of the names of fields
	maxSchemaDepth        = 64  // schemas within each other
	maxElementChecks      = 512 // bytes
	maxElementFields      = 128 // fields of the schema, which are all looked up, in the same case
	maxElementValidations = 8   // of one value, besides the fields that it requires
	maxValidations        = 32  // of one value, with these
	// messageSize is what the result of a messageExpression counts.
	messageSize = 1 << 10
)

// place is where a schema is.
type place struct {
	at *field.Path
	// path is the length of the names of the fields.
	path int
	// repeated says that it is below a list or map.
	repeated bool
}

// inspection validates the schemas of a definition.
type inspection struct {
	errs field.ErrorList
	// patterns are the instructions of all patterns, and rules the number of rules, of all versions.
	patterns, rules int
}

// visitVersion validates that objects of a version do not become much larger than what clients send or have stored.
func (i *inspection) visitVersion(version *apiextensionsv1.CustomResourceDefinitionVersion, at *field.Path) {
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return // It is required.
	}
	root, at := version.Schema.OpenAPIV3Schema, at.Child("schema", "openAPIV3Schema")
	if n := depthOf(root); n > maxSchemaDepth {
		i.errs = append(i.errs, field.Invalid(at, field.OmitValueType{}, fmt.Sprintf("has %d schemas within each other; "+
			"at most %d are allowed: use x-kubernetes-preserve-unknown-fields in place of the inner ones", n, maxSchemaDepth)))
		return
	}
	d := defaultsOf(root)
	i.visit(root, d, place{at: at})
	if d.largest > maxDefaults {
		i.errs = append(i.errs, field.Invalid(at, field.OmitValueType{}, fmt.Sprintf("the defaults of an object would have %d bytes, of which each value counts as %d more; "+
			"at most %d are allowed: remove some", d.largest, defaultValue, maxDefaults)))
	}
	if i.patterns > maxPatterns {
		i.errs = append(i.errs, field.Invalid(at, field.OmitValueType{}, fmt.Sprintf("the patterns have more than %d instructions; remove some, or repetitions such as {0,63} from them, and use maxLength", maxPatterns)))
	}
}

// depthOf returns how many schemas there are within each other, with the outermost one.
func depthOf(s *apiextensionsv1.JSONSchemaProps) int {
	n := 0
	for _, property := range s.Properties {
		n = max(n, depthOf(&property))
	}
	for _, combined := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
		n = max(n, depthOf(&combined))
	}
	for _, of := range []*apiextensionsv1.JSONSchemaProps{s.Not, repeated(s)} {
		if of != nil {
			n = max(n, depthOf(of))
		}
	}
	return n + 1
}

// visit validates a schema, and what is below it.
func (i *inspection) visit(s *apiextensionsv1.JSONSchemaProps, d *defaults, p place) {
	if p.path > maxPath {
		i.errs = append(i.errs, field.Invalid(p.at, field.OmitValueType{}, fmt.Sprintf("the names of the fields above have more than %d bytes; choose shorter ones", maxPath)))
		return
	}
	n, required := validations(s, false)
	if n+required > maxValidations {
		i.errs = append(i.errs, field.Invalid(p.at, field.OmitValueType{}, fmt.Sprintf("has %d validations of a value: schemas in allOf, anyOf, oneOf and not, rules, and required fields; "+
			"at most %d are allowed: combine rules, or remove some", n+required, maxValidations)))
	}
	if p.repeated {
		i.visitElement(s, d, n, p)
	}
	i.visitPatterns(s, p.at)
	for name, property := range s.Properties {
		i.visit(&property, d.properties[name], place{p.at.Child("properties").Key(name), p.path + len(name), p.repeated})
		s.Properties[name] = property
	}
	if of := elements(s); of != nil {
		i.visit(of, d.items, place{p.at.Child("items"), p.path, true})
	} else if of := repeated(s); of != nil {
		i.visit(of, d.items, place{p.at.Child("additionalProperties"), p.path, true})
	}
}

// visitElement validates what is added to a value below a list or map, and the errors about it.
func (i *inspection) visitElement(s *apiextensionsv1.JSONSchemaProps, d *defaults, validations int, p place) {
	if added := max(d.empty, d.own); added > maxElementDefaults {
		i.errs = append(i.errs, field.Invalid(p.at, field.OmitValueType{}, fmt.Sprintf("the defaults of one of these have %d bytes, of which each value counts as %d more; "+
			"at most %d are allowed in lists and maps: remove some", added, defaultValue, maxElementDefaults)))
	}
	if n := len(s.Properties); n > maxElementFields {
		i.errs = append(i.errs, field.Invalid(p.at.Child("properties"), field.OmitValueType{}, fmt.Sprintf("has %d fields; "+
			"at most %d are allowed in lists and maps", n, maxElementFields)))
	}
	if validations > maxElementValidations {
		i.errs = append(i.errs, field.Invalid(p.at, field.OmitValueType{}, fmt.Sprintf("has %d schemas in allOf, anyOf, oneOf and not, and rules; "+
			"at most %d are allowed in lists and maps: combine rules, or remove some", validations, maxElementValidations)))
	}
	if n := checks(s); n > maxElementChecks {
		i.errs = append(i.errs, field.Invalid(p.at, field.OmitValueType{}, fmt.Sprintf("allOf, anyOf, oneOf, not, enum, pattern, required and messages have %d bytes, of which each messageExpression counts as %d; "+
			"at most %d are allowed in lists and maps: shorten them, and use message instead of messageExpression", n, messageSize, maxElementChecks)))
	}
}

// validations returns how many errors about a value there may be, each of which has a copy of it: those of its rules
// and of the schemas that are combined with its schema, and those of required fields. Within combined schemas, the ones
// of fields and elements count, too.
func validations(s *apiextensionsv1.JSONSchemaProps, combined bool) (n, required int) {
	n, required = len(s.XValidations), len(s.Required)
	add := func(s *apiextensionsv1.JSONSchemaProps, this int) {
		more, fields := validations(s, true)
		n, required = n+more+this, required+fields
	}
	for _, of := range [][]apiextensionsv1.JSONSchemaProps{s.AllOf, s.AnyOf, s.OneOf} {
		for j := range of {
			add(&of[j], 1)
		}
	}
	if s.Not != nil {
		add(s.Not, 1)
	}
	if !combined {
		return n, required
	}
	for _, property := range s.Properties {
		add(&property, 0)
	}
	if of := repeated(s); of != nil {
		add(of, 0)
	}
	return n, required
}

// checks returns the bytes of what errors about a value may contain, and of what it is compared with.
func checks(s *apiextensionsv1.JSONSchemaProps) int {
	encoded, err := json.Marshal(&apiextensionsv1.JSONSchemaProps{AllOf: s.AllOf, AnyOf: s.AnyOf, OneOf: s.OneOf, Not: s.Not, Enum: s.Enum, Pattern: s.Pattern, Required: s.Required})
	if err != nil {
		return most
	}
	n := len(encoded) - len("{}")
	for _, rule := range s.XValidations {
		if rule.MessageExpression != "" {
			n += messageSize
		}
		if rule.Message != "" {
			n += len(rule.Message)
		} else {
			n += len(rule.Rule)
		}
	}
	return n
}

// visitPatterns validates the patterns of a schema and of those that it combines, and removes them: the validation of
// defaults would keep each of them in memory. kube-apiserver rejects a default that does not match.
func (i *inspection) visitPatterns(s *apiextensionsv1.JSONSchemaProps, at *field.Path) {
	if len(s.Definitions)+len(s.Dependencies)+len(s.PatternProperties) > 0 || s.AdditionalItems != nil || s.Items != nil && len(s.Items.JSONSchemas) > 0 {
		i.errs = append(i.errs, field.Forbidden(at, "definitions, dependencies, patternProperties, additionalItems and lists of items are not supported in CustomResourceDefinitions"))
		return
	}
	if s.Items != nil && s.AdditionalProperties != nil {
		i.errs = append(i.errs, field.Forbidden(at.Child("items"), "items and additionalProperties are mutually exclusive; keep the one of the type"))
	}
	if s.Pattern != "" {
		n, err := instructions(s.Pattern)
		if err != nil {
			i.errs = append(i.errs, field.Invalid(at.Child("pattern"), field.OmitValueType{}, err.Error()))
		}
		i.patterns = sum(i.patterns, n)
		s.Pattern = ""
	}
	i.rules += len(s.XValidations)
	for j := range s.XValidations {
		rule := &s.XValidations[j]
		for name, expression := range map[string]string{"rule": rule.Rule, "messageExpression": rule.MessageExpression} {
			if expression == "" {
				continue
			}
			n, err := checkRule(expression)
			if err != nil {
				i.errs = append(i.errs, field.Invalid(at.Child("x-kubernetes-validations").Index(j).Child(name), expression, err.Error()))
			}
			i.patterns = sum(i.patterns, n)
		}
	}
	for name, combined := range map[string][]apiextensionsv1.JSONSchemaProps{"allOf": s.AllOf, "anyOf": s.AnyOf, "oneOf": s.OneOf} {
		for j := range combined {
			i.visitCombined(&combined[j], at.Child(name).Index(j))
		}
	}
	if s.Not != nil {
		i.visitCombined(s.Not, at.Child("not"))
	}
}

// visitCombined does so for all schemas in one that is combined with others.
func (i *inspection) visitCombined(s *apiextensionsv1.JSONSchemaProps, at *field.Path) {
	i.visitPatterns(s, at)
	for name, property := range s.Properties {
		i.visitCombined(&property, at.Child("properties").Key(name))
		s.Properties[name] = property
	}
	if of := repeated(s); of != nil {
		i.visitCombined(of, at.Child("items"))
	}
}
