package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func TestDescriptionIsThatOfHNC(t *testing.T) {
	h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a"}, Spec: v1beta1.HierarchySpec{Parent: "acme-org"}}
	h.Status.Children = []string{"full-child", "service-1"}
	h.Status.Conditions = []metav1.Condition{
		{Type: hnc.ConditionActivitiesHalted, Status: metav1.ConditionTrue, Reason: "ParentMissing", Message: "no parent"},
		{Type: hnc.ConditionReady, Status: metav1.ConditionFalse, Reason: "ParentMissing", Message: "no parent"},
	}
	sub := func(name string, state v1beta1.SubnamespaceState) v1beta1.Subnamespace {
		return v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1beta1.SubnamespaceStatus{State: state}}
	}
	var s strings.Builder
	err := describeHierarchy(&s, h, []v1beta1.Subnamespace{sub("service-1", v1beta1.SubnamespaceOk), sub("broken", v1beta1.SubnamespaceConflict)})
	want := `Hierarchy configuration for namespace team-a
  Parent: acme-org
  Children:
  - broken (Conflict subnamespace)
  - full-child
  - service-1 (subnamespace)
  Allows Cascading Deletion: false
  Conditions:
  - ActivitiesHalted (ParentMissing): no parent
`
	if err != nil || s.String() != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, s.String(), want)
	}
	s.Reset()
	h = &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: "x"}, Spec: v1beta1.HierarchySpec{AllowCascadingDeletion: ptr.To(true)}}
	want = "Hierarchy configuration for namespace x\n  No parent\n  No children\n  Allows Cascading Deletion: true\n  No conditions\n"
	if err := describeHierarchy(&s, h, nil); err != nil || s.String() != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, s.String(), want)
	}
}

func TestEventsAreNewestFirstAndOneForEachMessage(t *testing.T) {
	now := time.Now()
	event := func(component, reason, message string, age time.Duration) corev1.Event {
		return corev1.Event{Source: corev1.EventSource{Component: component}, Reason: reason, Message: message, LastTimestamp: metav1.NewTime(now.Add(-age)),
			InvolvedObject: corev1.ObjectReference{Kind: "ConfigMap", Namespace: "ns", Name: "a"}}
	}
	future := event(hnc.GroupName, "Future", "m", -time.Hour)
	future.CreationTimestamp = metav1.NewTime(now.Add(-2 * time.Minute))
	warning := event(hnc.GroupName, "New", "m", 3*time.Second)
	warning.Type = corev1.EventTypeWarning
	skewed := future
	skewed.Reason, skewed.CreationTimestamp = "Skewed", metav1.NewTime(now.Add(time.Minute))
	var s strings.Builder
	err := describeEvents(&s, "ns", []corev1.Event{
		future, skewed, event(hnc.GroupName, "Ahead", "m", -time.Minute),
		event(hnc.GroupName, "Old", "m", time.Hour), event(hnc.GroupName, "New", "forged", time.Second), event(hnc.GroupName, "New", "m", 2*time.Second),
		warning, event(hnc.GroupName, "New", "m", time.Minute), event("kubelet", "Else", "m", time.Second),
	}, now)
	want := `
Events from the objects in namespace ns
Last Seen Reason Object         Message
0s        Skewed ConfigMap:ns/a m
0s        Ahead  ConfigMap:ns/a m
1s        New    ConfigMap:ns/a forged
2s        New    ConfigMap:ns/a m
3s        New    ConfigMap:ns/a m
2m        Future ConfigMap:ns/a m
60m       Old    ConfigMap:ns/a m
`
	if err != nil || s.String() != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, s.String(), want)
	}
	s.Reset()
	if err := describeEvents(&s, "ns", nil, now); err != nil || s.String() != "\nNo recent HNC events for objects in this namespace\n" {
		t.Errorf("%v, got %q", err, s.String())
	}
}

func TestQuotasArePrintedAsKubectlDoes(t *testing.T) {
	now := time.Now()
	list := func(pairs ...string) hnc.ResourceList {
		l := hnc.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return l
	}
	quota := v1beta1.HierarchicalResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "q", CreationTimestamp: metav1.NewTime(now.Add(-time.Hour)), Labels: map[string]string{"a": "b"}},
		Status: v1beta1.HierarchicalResourceQuotaStatus{
			Hard: list("pods", "3", "secrets", "6", "limits.cpu", "2000m"), Used: list("pods", "1", "limits.cpu", "500m"),
		},
	}
	for _, row := range []struct {
		namespaces, labels bool
		want               string
	}{
		{false, false, "NAME   AGE   REQUEST                    LIMIT\nq      60m   pods: 1/3, secrets: 0/6   limits.cpu: 500m/2\n"},
		{true, true, "NAMESPACE   NAME   AGE   REQUEST                    LIMIT                LABELS\nteam-a      q      60m   pods: 1/3, secrets: 0/6   limits.cpu: 500m/2   a=b\n"},
	} {
		var s strings.Builder
		if err := printQuotas(&s, []v1beta1.HierarchicalResourceQuota{quota}, row.namespaces, row.labels, now); err != nil {
			t.Fatal(err)
		}
		if strings.Join(strings.Fields(s.String()), " ") != strings.Join(strings.Fields(row.want), " ") {
			t.Errorf("got\n%s\nwant\n%s", s.String(), row.want)
		}
	}
}

func TestLabelsOfMovedNamespaces(t *testing.T) {
	labels := func(pairs ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i+1 < len(pairs); i += 2 {
			m[hnc.TreeLabel(pairs[i])] = pairs[i+1]
		}
		return m
	}
	above := map[string]int{"new": 0, "top": 1}
	old := map[string]int{"x": 0, "old": 1, "top": 2}
	for name, row := range map[string]struct {
		labels map[string]string
		match  bool
	}{
		"moved":              {labels("x", "0", "new", "1", "top", "2"), true},
		"below what moved":   {labels("y", "0", "x", "1", "new", "2", "top", "3"), true},
		"not yet":            {labels("x", "0", "old", "1", "top", "2"), false},
		"an old one is left": {labels("x", "0", "old", "1", "new", "1", "top", "2"), false},
		"other distance":     {labels("x", "0", "new", "1", "top", "3"), false},
		"no labels":          {nil, false},
	} {
		if got := treeLabelsMatch(row.labels, "x", above, old); got != row.match {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

func TestAbstractAncestorsAreNotInTheLabeledChain(t *testing.T) {
	ns := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Labels:      map[string]string{hnc.TreeLabel("x"): "0", hnc.TreeLabel("root"): "1", hnc.TreeLabel("eng"): "2", hnc.TreeLabel("top"): "3"},
		Annotations: map[string]string{hnc.AnnotationAbstractAncestors: "eng.top"},
	}}
	if chain := labeledChain(ns); !slices.Equal(chain, []string{"x", "root"}) {
		t.Errorf("got %v", chain)
	}
}

// A namespace can have tens of thousands of children.
func TestManyChildrenAreDescribedFast(t *testing.T) {
	const n = 200_000
	names, subs := make([]string, n), make([]v1beta1.Subnamespace, n)
	for i := range n {
		names[i], subs[i].Name = fmt.Sprintf("child-%d", i), fmt.Sprintf("pending-%d", i)
	}
	start := time.Now()
	if lines := childLines(names, subs); len(lines) != 2*n {
		t.Errorf("there are %d lines", len(lines))
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
}
