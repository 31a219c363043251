package viewdefinition

import (
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The limits of what kube-apiserver has for each element of a list, or builds for each that is not valid: errors have the
// path, and the pattern, the values or the message that the schema has for it.
const (
	maxPath          = 512     // bytes of the names of fields
	maxElementChecks = 512     // bytes, if elements may be repeated without a limit
	maxElementFields = 128     // fields of the schema, which are all looked up, in the same case
	maxChecks        = 8 << 20 // bytes or fields for all elements otherwise
)

// unlimited says that nothing bounds how often a schema is repeated.
const unlimited = -1

// place is where a schema is.
type place struct {
	at *field.Path
	// path is the length of the names of the fields, and times how often the schema may apply in an object.
	path, times int
}

// inspection validates a schema of a version.
type inspection struct {
	errs field.ErrorList
	// patterns are the instructions of all patterns, and defaults the bytes of all defaults in an object.
	patterns, defaults int
}

// validateSchema validates that objects of a version do not become much larger than what clients send or have stored.
// patterns counts the instructions of the patterns of all versions.
func validateSchema(version *apiextensionsv1.CustomResourceDefinitionVersion, at *field.Path, patterns *int) field.ErrorList {
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return nil // It is required.
	}
	root, at := version.Schema.OpenAPIV3Schema, at.Child("schema", "openAPIV3Schema")
	d := defaultsOf(root)
	i := inspection{patterns: *patterns, defaults: d.largest}
	i.visit(root, d, place{at: at, times: 1})
	*patterns = i.patterns
	if i.defaults > maxDefaults {
		i.errs = append(i.errs, field.Invalid(at, field.OmitValueType{}, fmt.Sprintf("the defaults of an object would have %d bytes, of which each value counts as %d more; "+
			"at most %d are allowed: remove some, or limit with maxItems and maxProperties how often they are added", i.defaults, defaultValue, maxDefaults)))
	}
	if i.patterns > maxPatterns {
		i.errs = append(i.errs, field.Invalid(at, field.OmitValueType{}, fmt.Sprintf("the patterns have more than %d instructions; remove some, or repetitions such as {0,63} from them, and use maxLength", maxPatterns)))
	}
	return i.errs
}

// visit validates a schema, and what is below it.
func (i *inspection) visit(s *apiextensionsv1.JSONSchemaProps, d *defaults, p place) {
	if p.path > maxPath {
		i.errs = append(i.errs, field.Invalid(p.at, field.OmitValueType{}, fmt.Sprintf("the names of the fields above have more than %d bytes; choose shorter ones", maxPath)))
		return
	}
	if p.times != 1 {
		i.visitElement(s, d, p)
	}
	i.visitPatterns(s, p.at)
	for name, property := range s.Properties {
		i.visit(&property, d.properties[name], place{p.at.Child("properties").Key(name), p.path + len(name), p.times})
		s.Properties[name] = property
	}
	if of := elements(s); of != nil {
		i.visit(of, d.items, place{p.at.Child("items"), p.path, times(p.times, s.MaxItems)})
	} else if of := repeated(s); of != nil {
		i.visit(of, d.items, place{p.at.Child("additionalProperties"), p.path, times(p.times, s.MaxProperties)})
	}
}

// times returns how often elements are repeated at most, which is more than once.
func times(above int, limit *int64) int {
	if above == unlimited || limit == nil || *limit < 0 || *limit > maxChecks {
		return unlimited
	}
	return product(max(int(*limit), 2), above)
}

// visitElement validates what is added to an object that may be repeated, and the errors about it.
func (i *inspection) visitElement(s *apiextensionsv1.JSONSchemaProps, d *defaults, p place) {
	switch added := max(d.empty, d.own); {
	case added <= maxElementDefaults:
	case p.times == unlimited:
		i.errs = append(i.errs, field.Invalid(p.at, field.OmitValueType{}, fmt.Sprintf("the defaults of one of these have %d bytes, of which each value counts as %d more; "+
			"at most %d are allowed if their number is not limited: remove some, or set maxItems or maxProperties above", added, defaultValue, maxElementDefaults)))
	default:
		i.defaults = sum(i.defaults, product(added, p.times))
	}
	if n := len(s.Properties); n > maxElementFields && (p.times == unlimited || product(n, p.times) > maxChecks) {
		i.errs = append(i.errs, field.Invalid(p.at.Child("properties"), field.OmitValueType{}, fmt.Sprintf("has %d fields; "+
			"at most %d are allowed if the number of elements is not limited: set maxItems or maxProperties above", n, maxElementFields)))
	}
	if n := checks(s); n > maxElementChecks && (p.times == unlimited || product(n, p.times) > maxChecks) {
		i.errs = append(i.errs, field.Invalid(p.at, field.OmitValueType{}, fmt.Sprintf("allOf, anyOf, oneOf, not, enum, pattern, required and messages have %d bytes; "+
			"at most %d are allowed if the number of elements is not limited, and %d for all elements: shorten them, or set maxItems or maxProperties above", n, maxElementChecks, maxChecks)))
	}
}

func product(a, b int) int {
	if a > most/b {
		return most
	}
	return a * b
}

// checks returns the bytes of what errors about a value may contain, and of what it is compared with.
func checks(s *apiextensionsv1.JSONSchemaProps) int {
	encoded, err := json.Marshal(&apiextensionsv1.JSONSchemaProps{AllOf: s.AllOf, AnyOf: s.AnyOf, OneOf: s.OneOf, Not: s.Not, Enum: s.Enum, Pattern: s.Pattern, Required: s.Required})
	if err != nil {
		return most
	}
	n := len(encoded) - len("{}")
	for _, rule := range s.XValidations {
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
	if s.Pattern != "" {
		n, err := instructions(s.Pattern)
		if err != nil {
			i.errs = append(i.errs, field.Invalid(at.Child("pattern"), field.OmitValueType{}, err.Error()))
		}
		i.patterns = sum(i.patterns, n)
		s.Pattern = ""
	}
	for j := range s.XValidations {
		rule := &s.XValidations[j]
		for name, expression := range map[string]string{"rule": rule.Rule, "messageExpression": rule.MessageExpression} {
			if expression == "" {
				continue
			}
			n, err := instructionsOfRule(expression)
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
