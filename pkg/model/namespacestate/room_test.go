package namespacestate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
)

// One object may set 32 KiB, and stored ones more. Together they may have no room on a Namespace, which would keep the
// labels of an earlier tree.
func TestLabelsAndAnnotationsFromAboveHaveRoomFirst(t *testing.T) {
	w := treetest.New("ns a", "ns b", "ns c", "parent b a", "parent c b")
	large := strings.Repeat("x", maxManagedBytes/2)
	for _, set := range []struct{ namespace, key, value string }{
		{"a", "m", large}, {"b", "m2", large}, {"b", "m3", "small"}, {"c", "m2", "smaller"}, {"c", "m3", "small"}, {"c", "m4", "small"},
	} {
		h := treetest.Hierarchy(w, set.namespace)
		pair := v1beta1.MetaKVP{Key: set.key, Value: set.value}
		h.Metadata.Labels = append(h.Metadata.Labels, pair)
		h.Metadata.Annotations = append(h.Metadata.Annotations, pair)
		w.SetHierarchy(h)
	}
	for name, want := range map[string]string{"a": "m", "b": "m m3", "c": "m m3 m4"} {
		for what, has := range map[string]map[string]string{"labels": managedLabels(w, name), "annotations": ManagedAnnotations(w, name)} {
			var keys []string
			for _, key := range []string{"m", "m2", "m3", "m4"} {
				if _, ok := has[key]; ok {
					keys = append(keys, key)
				}
			}
			if got := strings.Join(keys, " "); got != want {
				t.Errorf("%s of %s: %q, want %q", what, name, got, want)
			}
		}
		said := ""
		for _, c := range Conditions(w, name) {
			if c.Type == hnc.ConditionOutOfSync && c.Reason == hnc.ReasonMetadataTooLarge {
				said += c.Message
			}
		}
		if name == "a" {
			if said != "" {
				t.Errorf("%s: %s", name, said)
			}
			continue
		}
		for _, part := range []string{fmt.Sprintf("not set on namespace %q: labels m2, because", name), "; not set", "annotations m2", "or from its ancestors"} {
			if !strings.Contains(said, part) {
				t.Errorf("%s: %q does not say %q", name, said, part)
			}
		}
	}
}

// Whoever may set labels on ancestors keeps no Pod Security label out by filling the namespace.
func TestPodSecurityLabelsHaveRoom(t *testing.T) {
	w := tree.New(treetest.Managing([]string{"m", "pod-security.kubernetes.io/.*"}))
	for _, line := range []string{"ns a", "ns b", "parent b a"} {
		treetest.Apply(w, line)
	}
	for name, pair := range map[string]v1beta1.MetaKVP{
		"a": {Key: "m", Value: strings.Repeat("x", maxManagedBytes)}, "b": {Key: "pod-security.kubernetes.io/enforce", Value: "restricted"},
	} {
		h := treetest.Hierarchy(w, name)
		h.Metadata.Labels = append(h.Metadata.Labels, pair)
		w.SetHierarchy(h)
	}
	if got := managedLabels(w, "b")["pod-security.kubernetes.io/enforce"]; got != "restricted" {
		t.Errorf("got %q", got)
	}
}

// Its owner has written them, and they are there.
func TestAnExternalNamespaceKeepsItsLabels(t *testing.T) {
	w := treetest.New("ns a", "has a manager other", "has a label m="+strings.Repeat("x", maxManagedBytes))
	if changes := LabelChanges(w, "a"); len(changes) != 2 || changes[hnc.TreeLabel("a")] == nil || len(Conditions(w, "a")) != 0 {
		t.Errorf("got %v and %v", changes, Conditions(w, "a"))
	}
}
