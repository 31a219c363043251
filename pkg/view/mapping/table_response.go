package mapping

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// columns are the columns of tables that contain names of namespaces or groups, by kind and the column's name.
var columns = map[schema.GroupKind]map[string]func(*translation, string) string{
	{Kind: "Namespace"}:                                              {"Name": (*translation).name},
	{Kind: "Event"}:                                                  {"Object": (*translation).eventObject},
	{Group: "events.k8s.io", Kind: "Event"}:                          {"Object": (*translation).eventObject},
	{Kind: "PersistentVolume"}:                                       {"Claim": (*translation).qualified},
	{Kind: "ResourceQuota"}:                                          quotaColumns,
	{Group: hnc.GroupName, Kind: "HierarchicalResourceQuota"}:        quotaColumns,
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:        bindingColumns,
	{Group: hnc.GroupName, Kind: "Hierarchy"}:                        {"Parent": (*translation).name, "Child Names": (*translation).listed},
	{Group: hnc.GroupName, Kind: "HierarchyConfiguration"}:           {"Parent": (*translation).name, "Child Names": (*translation).listed},
	{Group: hnc.GroupName, Kind: "HierarchyTree"}:                    {"Name": (*translation).indented},
	{Group: hnc.GroupName, Kind: "Subnamespace"}:                     {"Name": (*translation).name},
	{Group: hnc.GroupName, Kind: "SubnamespaceAnchor"}:               {"Name": (*translation).name},
	{Group: hnc.GroupName, Kind: "MyNamespace"}:                      {"Name": (*translation).name, "Parent": (*translation).name, "Root": (*translation).name},
	{Group: hnc.GroupName, Kind: "OverwrittenObject"}:                {"Overwritten By": (*translation).name},
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: bindingColumns,
}

var bindingColumns = map[string]func(*translation, string) string{
	"Users": (*translation).users, "Groups": (*translation).users, "ServiceAccounts": (*translation).qualified,
}

var quotaColumns = map[string]func(*translation, string) string{"Request": (*translation).uses, "Limit": (*translation).uses}

// users translates names of users or groups separated by commas.
func (t *translation) users(s string) string {
	return t.split(s, ", ", func(item string) (string, bool) { return t.user(item), false })
}

// eventObject translates "namespace/acme-prod", what an event is about.
func (t *translation) eventObject(s string) string {
	for kind := range namedAfterNamespaces {
		if name, ok := strings.CutPrefix(s, strings.ToLower(kind.Kind)+"/"); ok {
			return strings.TrimSuffix(s, name) + t.name(name)
		}
	}
	return s
}

// indented translates a name after spaces.
func (t *translation) indented(s string) string {
	name := strings.TrimLeft(s, " ")
	return s[:len(s)-len(name)] + t.name(name)
}

// isTable reports whether an object is a Table of kube-apiserver. There may be others of this kind.
func isTable(kind, apiVersion string) bool {
	return kind == "Table" && strings.HasPrefix(apiVersion, groupMeta+"/")
}

// cellsOf returns the rules for the cells of a table with these column definitions, nil for kinds that have none.
func cellsOf(definitions []byte, kind schema.GroupVersionKind) (cells []*node) {
	if known := columns[kind.GroupKind()]; len(known) > 0 {
		_ = eachElement(definitions, func(start, end int) error {
			var n *node
			if text := known[TextOf(definitions[start:end], "name")]; text != nil {
				n = &node{text: text}
			}
			cells = append(cells, n)
			return nil
		})
	}
	return cells
}

// row appends a translated row: the cells, and the object, if it contains one.
func (t *translation) row(out, raw []byte, cells []*node, kind schema.GroupVersionKind) ([]byte, error) {
	if t.across {
		var shown bool
		if t, shown = t.ofMember(MemberOf(raw, "object"), kind.GroupKind()); !shown {
			return nil, errShadowed
		}
	}
	last := 0
	for m, err := range membersOf(raw) {
		if err != nil {
			return nil, err
		}
		if m.name != "cells" && m.name != "object" {
			continue
		}
		out = append(out, raw[last:m.valueStart]...)
		last = m.valueEnd
		if m.name == "object" {
			if out, err = t.top(out, m.value, kind); err != nil {
				return nil, err
			}
			continue
		}
		end, index := 0, 0
		err = eachElement(m.value, func(start, stop int) (err error) {
			out = append(out, m.value[end:start]...)
			var n *node
			if index < len(cells) {
				n = cells[index]
			}
			out, err = t.value(out, m.value[start:stop], n, nil)
			end, index = stop, index+1
			return err
		})
		if err != nil {
			return nil, err
		}
		out = append(out, m.value[end:]...)
	}
	return append(out, raw[last:]...), nil
}

// table appends a translated Table of a watch event. Only the first one of a watch has column definitions.
func (t *translation) table(out, raw []byte, kind schema.GroupVersionKind) ([]byte, error) {
	if definitions := MemberOf(raw, "columnDefinitions"); len(definitions) > len("null") {
		t.cells = cellsOf(definitions, kind)
	}
	last := 0
	for m, err := range membersOf(raw) {
		if err != nil {
			return nil, err
		}
		if m.name != "rows" {
			continue
		}
		out = append(out, raw[last:m.valueStart]...)
		// There is one row in an event.
		end := 0
		err = eachElement(m.value, func(start, stop int) (err error) {
			out = append(out, m.value[end:start]...)
			out, err = t.row(out, m.value[start:stop], t.cells, kind)
			end = stop
			return err
		})
		if err != nil {
			return nil, err
		}
		out, last = append(out, m.value[end:]...), m.valueEnd
	}
	return append(out, raw[last:]...), nil
}
