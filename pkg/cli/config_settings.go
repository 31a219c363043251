package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// settings are the paths of all fields of the configuration except the kinds, with their types, such as
// rules.droppedLabels.
var settings = fieldsOf("", reflect.TypeFor[v1beta1.HNCConfigurationSpec]())

func fieldsOf(prefix string, of reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if prefix+name == "resources" {
			continue
		}
		kind := field.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		fields[prefix+name] = kind
		if isOwn(kind) {
			for path, inner := range fieldsOf(prefix+name+".", kind) {
				fields[path] = inner
			}
		}
	}
	return fields
}

// settingNames are the paths of the settings, sorted.
func settingNames() []string { return slices.Sorted(maps.Keys(settings)) }

// isOwn reports whether values of a type consist of settings of their own.
func isOwn(of reflect.Type) bool {
	return of.Kind() == reflect.Struct && of.PkgPath() == reflect.TypeFor[v1beta1.HNCConfigurationSpec]().PkgPath()
}

// setting returns the value of a field in YAML, on one line; "" if it is not set.
func setting(spec *v1beta1.HNCConfigurationSpec, path string) (string, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	if err != nil {
		return "", err
	}
	value, found, err := unstructured.NestedFieldNoCopy(content, strings.Split(path, ".")...)
	if err != nil || !found {
		return "", err
	}
	switch value := value.(type) {
	case string:
		return value, nil
	case []any:
		if texts, ok := plain(value); ok {
			return strings.Join(texts, ","), nil
		}
	}
	text, err := json.Marshal(value)
	return string(text), err
}

// plain returns the elements of a list of texts.
func plain(list []any) ([]string, bool) {
	var texts []string
	for _, element := range list {
		text, ok := element.(string)
		if !ok || strings.Contains(text, ",") {
			return nil, false
		}
		texts = append(texts, text)
	}
	return texts, true
}

// changeSetting gives a field this value: a text, YAML, or for a list of texts these, separated by commas. A nil value
// removes the field.
func changeSetting(spec *v1beta1.HNCConfigurationSpec, path string, value *string) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	if err != nil {
		return err
	}
	fields := strings.Split(path, ".")
	if value == nil {
		unstructured.RemoveNestedField(content, fields...)
	} else {
		parsed, err := parseSetting(*value, settings[path])
		if err != nil {
			return UsageErrorf("%s: %w", path, err)
		}
		if err := unstructured.SetNestedField(content, parsed, fields...); err != nil {
			return err
		}
	}
	for parent := fields[:len(fields)-1]; len(parent) > 0; parent = parent[:len(parent)-1] {
		if inner, _, _ := unstructured.NestedMap(content, parent...); len(inner) == 0 {
			unstructured.RemoveNestedField(content, parent...)
		}
	}
	text, err := json.Marshal(content)
	if err != nil {
		return err
	}
	changed := &v1beta1.HNCConfigurationSpec{}
	if err := yaml.UnmarshalStrict(text, changed); err != nil {
		return UsageErrorf("%s: %w", path, err)
	}
	*spec = *changed
	return nil
}

// parseSetting parses the value of a field of this type.
func parseSetting(text string, of reflect.Type) (any, error) {
	if of.Kind() == reflect.String {
		return text, nil
	}
	if of == reflect.TypeFor[[]string]() && !strings.HasPrefix(text, "[") {
		list := []any{}
		for element := range strings.SplitSeq(text, ",") {
			list = append(list, element)
		}
		return list, nil
	}
	typed := reflect.New(of)
	if err := yaml.UnmarshalStrict([]byte(text), typed.Interface()); err != nil {
		return nil, fmt.Errorf("%q is not a value of this field in YAML: %w", text, err)
	}
	asJSON, err := json.Marshal(typed.Interface())
	if err != nil {
		return nil, err
	}
	var parsed any
	return parsed, json.Unmarshal(asJSON, &parsed)
}

// unknownSetting returns an error if a key is neither a setting nor the name of a kind.
func unknownSetting(key string) error {
	if _, ok := settings[key]; ok || key != "" && strings.ToLower(key) == key {
		return nil
	}
	return UsageErrorf("%q is neither RESOURCE[.GROUP] nor one of %s", key, strings.Join(settingNames(), ", "))
}
