package mapping

import (
	"maps"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const (
	labelSelectorQuery = "labelSelector"
	fieldSelectorQuery = "fieldSelector"
)

// Query translates the selectors in the query of a request for objects of this kind. Everything else is unchanged.
func (m *Mapper) Query(kind schema.GroupKind, query url.Values) (url.Values, error) {
	if !m.names.relative || len(query[labelSelectorQuery]) == 0 && len(query[fieldSelectorQuery]) == 0 {
		return query, nil
	}
	t := m.translation(In)
	translated := maps.Clone(query)
	delete(translated, labelSelectorQuery)
	delete(translated, fieldSelectorQuery)
	for _, value := range query[labelSelectorQuery] {
		translated.Add(labelSelectorQuery, t.labelQuery(kind, value))
	}
	for _, value := range query[fieldSelectorQuery] {
		selector, err := t.fieldQuery(kind, value)
		if err != nil {
			return nil, err
		}
		translated.Add(fieldSelectorQuery, selector)
	}
	return translated, nil
}

// labelQuery translates a label selector of objects. The view does not show the labels of namespaces that name others
// than members, so selectors do not find them.
func (t *translation) labelQuery(kind schema.GroupKind, selector string) string {
	namespaces := hasTreeLabels(kind)
	return t.selectorTextWith(selector, func(key string) string {
		ancestor, ok := hnc.TreeLabelAncestor(key)
		if !ok || !namespaces {
			return key
		}
		if realName, shown := t.names.Resolve(ancestor); shown {
			return hnc.TreeLabel(realName)
		}
		// No namespace has such a name.
		return hnc.TreeLabel(strings.TrimSuffix(ancestor, ExternalSuffix) + ExternalSuffix)
	}, func(key, value string) string {
		if key == hnc.LabelInheritedFrom || namespaces && key == labelName {
			return t.name(value)
		}
		return value
	})
}

// fieldQuery translates a field selector.
func (t *translation) fieldQuery(kind schema.GroupKind, text string) (string, error) {
	selector, err := fields.ParseSelector(text)
	if err != nil {
		return "", badRequest(nil, "%s: %v", fieldSelectorQuery, err)
	}
	about := ""
	for _, r := range selector.Requirements() {
		if r.Field == "involvedObject.kind" || r.Field == "regarding.kind" {
			about = r.Value
		}
	}
	changed := false
	selector, err = selector.Transform(func(field, value string) (string, string, error) {
		translated := value
		switch field {
		case "metadata.namespace", "involvedObject.namespace", "regarding.namespace":
			translated = t.name(value)
		case "involvedObject.apiVersion", "regarding.apiVersion":
			translated = t.apiVersion(value)
		case "metadata.name":
			if NamedAfterNamespaces(kind) {
				translated = t.name(value)
			}
		case "involvedObject.name", "regarding.name":
			if about == "Namespace" || about == "Subnamespace" || about == "SubnamespaceAnchor" {
				translated = t.name(value)
			}
		}
		changed = changed || translated != value
		return field, translated, nil
	})
	if err != nil {
		return "", badRequest(nil, "%s: %v", fieldSelectorQuery, err)
	}
	if !changed {
		return text, nil
	}
	return selector.String(), nil
}
