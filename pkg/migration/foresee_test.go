package migration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/configrules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
)

// The answers of HNC's webhooks are not those of the API server; those of others are.
func TestWhoHasRejectedADryRun(t *testing.T) {
	denied := func(format string, args ...any) error {
		return apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf(format, args...))
	}
	for _, test := range []struct {
		err                error
		passes, unanswered bool
	}{
		{nil, false, false},
		{errors.New(`admission webhook "hierarchyconfigurations.hnc.x-k8s.io" denied the request: cannot set the parent`), true, false},
		{denied(`admission webhook "subnamespaceanchors.hnc.x-k8s.io" denied the request: no`), true, false},
		{apierrors.NewInternalError(errors.New(`failed calling webhook "hierarchyconfigurations.hnc.x-k8s.io": connection refused`)), true, false},
		{apierrors.NewInternalError(errors.New(`failed calling webhook "hierarchyconfigurations.hnc.x-k8s.io": failed to call webhook: Post "https://hnc-webhook-service.hnc-system.svc:443/v?timeout=10s": context deadline exceeded`)), true, true},
		{denied(`admission webhook "validate.kyverno.svc" denied the request: hierarchyconfigurations.hnc.x-k8s.io`), false, false},
		{apierrors.NewBadRequest(`admission webhook "validate.example.com" does not support dry run`), true, false},
		{apierrors.NewBadRequest("no"), false, false},
		{denied(`namespace "a" is excluded`), false, false},
	} {
		i := &importer{dryRun: []string{"All"}}
		if got := i.passesDryRun(test.err); got != test.passes || i.unanswered.Load() != test.unanswered {
			t.Errorf("%v: passes %t, unanswered %t", test.err, got, i.unanswered.Load())
		}
		if (&importer{}).passesDryRun(test.err) {
			t.Errorf("%v: it is ignored when objects are stored", test.err)
		}
	}
}

// imported returns what is imported by the rules of HNC's flags.
func imported(t *testing.T, spec *v1beta1.Rules, lines ...string) *imports {
	t.Helper()
	rules, errs := configrules.Of(spec)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	all, err := translate(given(lines...), rules.Managed)
	if err != nil {
		t.Fatal(err)
	}
	all.rules = rules
	return all
}

func TestTreesOfHNCThatAreTooDeep(t *testing.T) {
	lines := []string{"ns n0"}
	for i := 1; i <= 61; i++ {
		lines = append(lines, fmt.Sprintf("ns n%d", i), fmt.Sprintf("hc n%d n%d", i, i-1))
	}
	found := tooDeep(imported(t, nil, lines...))
	if len(found) != 2 || !found[0].needed || !strings.Contains(found[0].object+found[0].why, "hierarchyconfigurations n60/hierarchyspec.parent: ") || !strings.Contains(found[0].why, "closer to the root") {
		t.Errorf("got %v", found)
	}
}

// Before the rules of HNC's flags apply, the API server cannot validate what depends on them.
func TestWhatOtherRulesValidate(t *testing.T) {
	lines := []string{"ns a", "ns b", "label b k", "hc b a", "set b k", "ns kube-public", "hc kube-public a", "ns c", "hc c kube-public", "quota kube-public", "sub d of a", "anchor a d", "sub e of kube-public", "anchor kube-public e"}
	all := imported(t, &v1beta1.Rules{ManagedNamespaceLabels: []string{"k"}, ExcludedNamespaces: []string{"kube-system", "hns-system"}}, lines...)
	words := func(all *imports) string {
		var list []string
		for _, h := range all.hierarchies {
			list = append(list, fmt.Sprintf("%s<%s%v", h.Namespace, h.Spec.Parent, h.Spec.Labels))
		}
		for _, s := range all.subnamespaces {
			list = append(list, s.Namespace+"/"+s.Name)
		}
		for _, q := range all.quotas {
			list = append(list, q.Namespace+"/"+q.Name)
		}
		return strings.Join(list, " ")
	}
	const complete = "b<a[{k v}] c<kube-public[] d<a[] e<kube-public[] kube-public<a[] a/d kube-public/e kube-public/q"
	if got := words(all.by(configrules.Default())); got != "b<a[] d<a[] a/d" {
		t.Errorf("by the default rules: %s", got)
	}
	if got := words(all.by(all.rules)); got != complete {
		t.Errorf("by the same rules: %s", got)
	}
	if got := words(all); got != complete {
		t.Errorf("what is imported has changed: %s", got)
	}
}

// While hierarchies are imported, a namespace with a missing parent is a root.
func TestNamespacesThatInherit(t *testing.T) {
	all := imported(t, nil, "ns a", "ns b", "hc b a", "ns c", "hc c b", "ns o", "hc o gone", "ns p", "hc p o", "ns x", "hc x x", "ns y", "hc y x", "terminating z", "hc z a")
	var got []string
	for d := range all.destinations() {
		got = append(got, d.Namespace+"<"+strings.Join(d.Ancestors, ","))
	}
	if want := []string{"b<a", "c<a,b", "p<o", "y<x"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOverwritesAreDescribedByExamples(t *testing.T) {
	var writes []copies.Write
	for _, namespace := range []string{"d", "c", "b", "a"} {
		writes = append(writes, copies.Write{Namespace: namespace, Name: "default", Source: &copies.Object{Namespace: "root"}})
	}
	if got := describeOverwrites(writes); got != "copies would overwrite 4 objects that HNC has left alone, such as default in a by that of root, default in b by that of root, default in c by that of root" {
		t.Errorf("got %q", got)
	}
}

// What namespaces need is never left out.
func TestSkipRejected(t *testing.T) {
	list := []rejection{{"b", "no", false}, {"h", "spec.parent: no", true}}
	for _, test := range []struct {
		skip           bool
		rejected       []rejection
		printed, error string
	}{
		{false, nil, "", ""},
		{true, list[:1], "Left out, because hns-apiserver rejects them:\n  b: no\n", ""},
		{false, list[:1], "", "leave them out by --skip-rejected:\n  b: no"},
		{true, list, "Left out, because hns-apiserver rejects them:\n  b: no\n", "1 of HNC's objects that --skip-rejected does not leave out"},
		{false, list, "", "leave them out by --skip-rejected:\n  b: no\nhns-apiserver rejects 1 of"},
	} {
		out := &strings.Builder{}
		err := (&Migration{Options: Options{Out: out, SkipRejected: test.skip}}).rejections(test.rejected)
		if out.String() != test.printed || (err != nil) != (test.error != "") || err != nil && !strings.Contains(err.Error(), test.error) {
			t.Errorf("skip %t, %v: printed %q, error %v", test.skip, test.rejected, out, err)
		}
	}
}
