package migration

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// given builds an export: "ns NAME", "sub NAME of PARENT", "label NAME KEY", "external NAME", "terminating NAME", "hc
// NAME PARENT", "set NAME KEY", "anchor PARENT NAME", "quota NAME", "kind RESOURCE".
func given(lines ...string) *export {
	e := &export{}
	at := func(name string) *namespace {
		i := slices.IndexFunc(e.Namespaces, func(ns namespace) bool { return ns.Name == name })
		if i < 0 {
			e.Namespaces = append(e.Namespaces, namespace{Name: name, Labels: map[string]string{}, Annotations: map[string]string{}})
			i = len(e.Namespaces) - 1
		}
		return &e.Namespaces[i]
	}
	object := func(kind, ns, name string) *unstructured.Unstructured {
		for _, o := range e.Items {
			if o.GetKind() == kind && o.GetNamespace() == ns && o.GetName() == name {
				return o
			}
		}
		o := &unstructured.Unstructured{Object: map[string]any{"kind": kind, "metadata": map[string]any{"name": name, "namespace": ns}, "spec": map[string]any{}}}
		e.Items = append(e.Items, o)
		return o
	}
	for _, line := range lines {
		w := append(strings.Fields(line), "", "", "")
		switch w[0] {
		case "ns":
			at(w[1])
		case "sub":
			at(w[1]).Annotations[hnc.AnnotationSubnamespaceOf] = w[3]
		case "label":
			at(w[1]).Labels[w[2]] = "value"
		case "external":
			at(w[1]).Annotations[hnc.AnnotationManagedBy] = "other"
		case "terminating":
			at(w[1]).Terminating = true
		case "hc":
			object("HierarchyConfiguration", w[1], hnc.Singleton).Object["spec"].(map[string]any)["parent"] = w[2]
		case "set":
			object("HierarchyConfiguration", w[1], hnc.Singleton).Object["spec"].(map[string]any)["labels"] = []any{map[string]any{"key": w[2], "value": "v"}}
		case "annotate":
			object("HierarchyConfiguration", w[1], hnc.Singleton).SetAnnotations(map[string]string{w[2]: "x"})
		case "anchor":
			// Users can write the status.
			object("SubnamespaceAnchor", w[1], w[2]).Object["status"] = map[string]any{"status": "Ok"}
		case "quota":
			object("HierarchicalResourceQuota", w[1], "q")
		case "limit":
			object("HierarchicalResourceQuota", w[1], "q").Object["spec"] = map[string]any{"hard": map[string]any{w[2]: "1", "services": "1"}}
		case "kinds":
			object("HNCConfiguration", "", "config").Object["spec"] = map[string]any{"resources": []any{map[string]any{"resource": w[1]}, map[string]any{"resource": w[2]}}}
		}
	}
	return e
}

func TestTranslate(t *testing.T) {
	rules, errs := managedkeys.NewRules(&v1beta1.Rules{ManagedNamespaceLabels: []string{"k"}, ExcludedNamespaces: append(slices.Clone(hnc.ExcludedNamespaces), "monitoring")}, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for name, test := range map[string]struct {
		given []string
		// want lists the imports; what is left out after "-", and what is noted after "!".
		want string
	}{
		"a limit that is rejected":             {[]string{"ns a", "limit a count/networkpolicies.networking.k8s.io"}, "a/q !the limit count/networkpolicies.networking.k8s.io is left out"},
		"a tree":                               {[]string{"ns a", "ns b", "hc b a"}, "b<a"},
		"a sub-namespace":                      {[]string{"ns a", "sub b of a", "hc b a", "anchor a b"}, "b<a a/b"},
		"a hierarchy that HNC had not written": {[]string{"ns a", "sub b of a", "anchor a b"}, "b<a a/b"},
		"an anchor of a full namespace":        {[]string{"ns a", "ns b", "anchor a b"}, "-b is not its sub-namespace"},
		"an anchor of another's sub-namespace": {[]string{"ns a", "ns x", "sub b of x", "hc b x", "anchor a b"}, "b<x -b is not its sub-namespace !nobody in x"},
		"an anchor without a namespace":        {[]string{"ns a", "anchor a b"}, "-b does not exist"},
		"an annotation without an anchor":      {[]string{"ns a", "sub b of a", "hc b a"}, "b<a !nobody in a"},
		"an annotation, and another parent":    {[]string{"ns a", "ns c", "sub b of a", "hc b c"}, "b<c !nobody in a"},
		"an orphan":                            {[]string{"ns b", "hc b gone", "ns c", "hc c b"}, "c<b b<gone !ParentMissing"},
		"a cycle":                              {[]string{"ns a", "ns b", "hc a b", "hc b a"}, "b<a a<a-in-cycle !its own ancestor"},
		"below a cycle":                        {[]string{"ns a", "ns b", "hc a a", "hc b a"}, "b<a a<a-in-cycle !its own ancestor"},
		"an excluded namespace":                {[]string{"ns kube-system", "hc kube-system a", "quota kube-system"}, "-hierarchicalresourcequotas -hierarchyconfigurations"},
		"an excluded parent":                   {[]string{"ns b", "ns c", "ns kube-system", "hc b kube-system", "hc c b"}, "c<b b<kube-system-excluded !its parent kube-system is excluded"},
		"a name that is taken":                 {[]string{"ns b", "ns kube-system", "ns kube-system-excluded", "hc b kube-system"}, "b<kube-system-excluded-x !its parent kube-system"},
		"an external namespace":                {[]string{"ns a", "external b", "hc b a"}, "b< -managed by other"},
		"a terminating namespace":              {[]string{"ns a", "terminating b", "hc b a", "sub b of a", "anchor a b"}, "-it is being deleted -one of the namespaces"},
		"a label in force":                     {[]string{"ns a", "label a k", "set a k"}, "a<+k"},
		"a label that is managed no more":      {[]string{"ns a", "label a old", "set a old"}, "a< -the label old"},
		"a parent beside such a label":         {[]string{"ns a", "ns b", "hc b a", "label b old", "set b old"}, "b<a -the label old"},
		"a namespace excluded by a flag":       {[]string{"ns monitoring", "ns b", "hc monitoring b", "hc b monitoring"}, "b<monitoring-excluded -the namespace is excluded !its parent monitoring is excluded"},
		"a namespace that is gone":             {[]string{"ns a", "hc gone a", "quota gone"}, "-hierarchicalresourcequotas gone/q: its namespace does not exist -hierarchyconfigurations gone/hierarchy"},
		"a label that HNC has ignored":         {[]string{"ns a", "set a k"}, "a< -the label k"},
		"a forged annotation":                  {[]string{"ns a", "hc a ", "annotate a hnc.x-k8s.io/exceed-quotas"}, "a<"},
		"a user's annotation":                  {[]string{"ns a", "hc a ", "annotate a example.com/x"}, "a<@example.com/x"},
		"a quota":                              {[]string{"ns a", "quota a"}, "a/q"},
		"a limit of what is propagated":        {[]string{"ns a", "kinds configmaps secrets", "limit a secrets"}, "a/q configmaps secrets !the limits secrets are not in force"},
		"kinds":                                {[]string{"kinds configmaps secrets"}, "configmaps secrets"},
		"a kind twice":                         {[]string{"kinds secrets secrets"}, "secrets -second entry for secrets"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := translate(given(test.given...), rules)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, h := range slices.Concat(all.hierarchies, all.orphans) {
				word := h.Namespace + "<" + h.Spec.Parent
				for _, pair := range h.Spec.Labels {
					word += "+" + pair.Key
				}
				for key := range h.Annotations {
					word += "@" + key
				}
				got = append(got, word)
			}
			for _, s := range all.subnamespaces {
				got = append(got, s.Namespace+"/"+s.Name)
			}
			for _, q := range all.quotas {
				got = append(got, q.Namespace+"/"+q.Name)
			}
			for _, r := range all.resources {
				got = append(got, r.Resource)
			}
			head, rest, _ := strings.Cut(" "+test.want, " -")
			if rest == "" {
				head, _, _ = strings.Cut(head, " !")
			}
			if strings.TrimSpace(head) != strings.Join(got, " ") {
				t.Errorf("imported %q, want %q", strings.Join(got, " "), head)
			}
			wantOut, wantNotes := parts(test.want, " -"), parts(test.want, " !")
			matches(t, "left out", all.leftOut, wantOut)
			matches(t, "noted", all.notes, wantNotes)
		})
	}
}

// parts returns what follows each mark.
func parts(want, mark string) []string {
	var found []string
	for _, part := range strings.Split(" "+want, mark)[1:] {
		for _, other := range []string{" -", " !"} {
			part, _, _ = strings.Cut(part, other)
		}
		found = append(found, part)
	}
	return found
}

func matches(t *testing.T, what string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %q, want %q", what, got, want)
		return
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("%s: %q, want %q", what, got[i], want[i])
		}
	}
}
