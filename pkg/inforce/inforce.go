// Package inforce reports the rules that a server applies, and compares those of two servers.
package inforce

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
)

// Of returns the rules that the flags define, in a canonical order.
func Of(m *managed.Options, c *copies.Options) *v1beta1.Rules {
	strip := c.StripTracking
	return &v1beta1.Rules{
		ExcludedNamespaces:          sorted(m.Excluded),
		IncludedNamespaceRegex:      m.Included,
		ExcludedNamespaceSelector:   m.Selector,
		ManagedNamespaceLabels:      sorted(m.Labels),
		ManagedNamespaceAnnotations: sorted(m.Annotations),
		NoPropagationLabels:         sorted(c.NoPropagation),
		UnpropagatedLabels:          sorted(c.UnpropagatedLabels),
		UnpropagatedAnnotations:     sorted(c.UnpropagatedAnnotations),
		StripTrackingMetadata:       &strip,
	}
}

func sorted(values []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}

// Differences describes each rule that differs between the servers. It returns none unless both have reported their
// rules.
func Differences(f v1beta1.InForce) []string {
	if f.APIServer == nil || f.Propagator == nil {
		return nil
	}
	server, propagator := Fields(f.APIServer), Fields(f.Propagator)
	all := maps.Clone(server)
	maps.Copy(all, propagator)
	var found []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !reflect.DeepEqual(server[name], propagator[name]) {
			found = append(found, fmt.Sprintf("%s is %s for hns-apiserver and %s for hns-propagator", name, text(server[name]), text(propagator[name])))
		}
	}
	return found
}

// Fields returns the rules that are set, by JSON field name.
func Fields(r *v1beta1.Rules) map[string]any {
	fields := map[string]any{}
	if content, err := json.Marshal(r); err == nil {
		_ = json.Unmarshal(content, &fields)
	}
	return fields
}

func text(value any) string {
	if value == nil {
		return "empty"
	}
	content, _ := json.Marshal(value)
	return string(content)
}
