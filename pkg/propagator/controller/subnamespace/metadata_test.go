package subnamespace

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
)

const podSecurityPrefix = "pod-security.kubernetes.io/"

func TestANewSubnamespaceIsCreatedWithItsPodSecurity(t *testing.T) {
	w := tree.New(treetest.Rules())
	w.InheritPodSecurity()
	for _, line := range []string{"ns p", "has p label " + podSecurityPrefix + "enforce=restricted", "asked p c"} {
		treetest.Apply(w, line)
	}
	ns := planFor(w, tree.Key{Parent: "p", Name: "c"}, treetest.Now).namespace
	if ns.Labels[podSecurityPrefix+"enforce"] != "restricted" || ns.Annotations[hnc.AnnotationInheritedPodSecurity] != podSecurityPrefix+"enforce=restricted" {
		t.Errorf("got %v, %v", ns.Labels, ns.Annotations)
	}
}

func TestASubnamespaceIsCreatedWithItsAncestry(t *testing.T) {
	plan := planFor(treetest.New("ns a", "ns p", "parent p a", "asked p c"), tree.Key{Parent: "p", Name: "c"}, treetest.Now)
	if got := plan.namespace.Annotations[hnc.AnnotationAncestry]; got != "c.p.a" {
		t.Errorf("got %q", got)
	}
}

func TestASubnamespacesMetadataIsCopiedIntoTheHierarchy(t *testing.T) {
	for name, test := range map[string]struct {
		given []string
		want  bool
	}{
		"3.1 step 8: the same":               {[]string{"asks p c labels m=1", "says c labels m=1"}, false},
		"3.1 step 8: another":                {[]string{"asks p c labels m=1", "says c labels m=2"}, true},
		"3.1 step 8: wiped":                  {[]string{"says c labels m=2"}, true},
		"3.1 step 8: annotations":            {[]string{"asks p c annotations m=1"}, true},
		"3.1 step 8: for one namespace":      {[]string{"asks p c namespaceLabels m=1"}, true},
		"3.1 step 8: unmanaged ones as well": {[]string{"asks p c labels x=1"}, true},
	} {
		w := treetest.New(append([]string{"ns p", "ready p c", "ns c sub-of p", "parent c p"}, test.given...)...)
		plan := planFor(w, tree.Key{Parent: "p", Name: "c"}, treetest.Now)
		if plan.setMetadata != test.want || (plan.action == populate) != test.want {
			t.Errorf("%s: %s, set metadata: %t", name, plan.action, plan.setMetadata)
		}
	}
}

func TestANewSubnamespaceIsCreatedWithItsMetadata(t *testing.T) {
	w := treetest.New(treetest.Both("ns p", "says p labels m=1", "asked p c", "asks p c labels m2=2", "asks p c namespaceLabels m3=3")...)
	plan := planFor(w, tree.Key{Parent: "p", Name: "c"}, treetest.Now)
	if got := treetest.Managed(plan.namespace.Labels); got != "m2=2 m3=3 m=1" {
		t.Errorf("labels %q", got)
	}
	if got := treetest.Managed(plan.namespace.Annotations); got != "m2=2 m3=3 m=1" || plan.namespace.Annotations[hnc.AnnotationSubnamespaceOf] != "p" {
		t.Errorf("annotations %q", plan.namespace.Annotations)
	}
}

func TestWhereNamespacesOptInThereAreNoSubnamespaces(t *testing.T) {
	rules, errs := managedkeys.NewRules(&v1beta1.Rules{
		ExcludedNamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "takes-part", Operator: metav1.LabelSelectorOpDoesNotExist}}},
	}, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	w := tree.New(rules)
	for _, line := range []string{"ns p label takes-part=", "asked p c"} {
		treetest.Apply(w, line)
	}
	if plan := planFor(w, tree.Key{Parent: "p", Name: "c"}, treetest.Now); plan.action != report || plan.status.State != v1beta1.SubnamespaceForbidden {
		t.Errorf("A4: %s %s", plan.action, plan.status.State)
	}
}

func TestAnExternalNamespaceIsNoSubnamespace(t *testing.T) {
	w := treetest.New("ns p", "asked p c", "ns c sub-of p", "parent c p", "has c manager other")
	if plan := planFor(w, tree.Key{Parent: "p", Name: "c"}, treetest.Now); plan.action != report || plan.status.State != v1beta1.SubnamespaceConflict {
		t.Errorf("0.1: %s %s", plan.action, plan.status.State)
	}
}
