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
	return RewriteObject(out, raw, func(out []byte, name string, value []byte) (_ []byte, keep bool, err error) {
		switch name {
		case "object":
			out, err = t.top(out, value, kind)
		case "cells":
			out, err = RewriteList(out, value, func(out []byte, index int, cell []byte) (_ []byte, keep bool, err error) {
				var n *node
				if index < len(cells) {
					n = cells[index]
				}
				out, err = t.value(out, cell, n, nil)
				return out, true, err
			})
		default:
			out = append(out, value...)
		}
		return out, true, err
	})
}

// table appends a translated Table of a watch event. Only the first one of a watch has column definitions.
func (t *translation) table(out, raw []byte, kind schema.GroupVersionKind) ([]byte, error) {
	if definitions := MemberOf(raw, "columnDefinitions"); len(definitions) > len("null") {
		t.cells = cellsOf(definitions, kind)
	}
	return RewriteObject(out, raw, func(out []byte, name string, value []byte) ([]byte, bool, error) {
		if name != "rows" {
			return append(out, value...), true, nil
		}
		// There is one row in an event.
		out, err := RewriteList(out, value, func(out []byte, _ int, row []byte) ([]byte, bool, error) {
			out, err := t.row(out, row, t.cells, kind)
			return out, true, err
		})
		return out, true, err
	})
}
