package kinds

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// TestCase9Exceptions has each annotation on Secrets in mode AllowPropagate. The names carry the steps of
// docs/spec/hnc.md 3.8.
func TestCase9Exceptions(t *testing.T) {
	configure(t, "secrets AllowPropagate")
	root, mid, leaf := tree(t, "exceptions")
	label(t, leaf, `"prod"`)
	for name, test := range map[string]struct {
		annotation string
		// where are the namespaces that get a copy.
		where string
	}{
		"SEL-7 nothing":             {"example.com/x=y", ""},
		"SEL-2 select":              {hnc.AnnotationSelect + "=env=prod", leaf},
		"SEL-2 select-notin":        {hnc.AnnotationSelect + "=env notin (prod)", mid},
		"SEL-2 select-empty":        {hnc.AnnotationSelect + "=", ""},
		"SEL-3 treeselect":          {hnc.AnnotationTreeSelect + "=" + mid, mid + " " + leaf},
		"SEL-3 treeselect-leaf":     {hnc.AnnotationTreeSelect + "=" + leaf, leaf},
		"SEL-3 treeselect-not-leaf": {hnc.AnnotationTreeSelect + "=!" + leaf, mid},
		"SEL-3 treeselect-but":      {hnc.AnnotationTreeSelect + "=" + root + ", !" + mid, ""},
		"SEL-4 none":                {hnc.AnnotationNone + "=true", ""},
		"SEL-4 none-false":          {hnc.AnnotationNone + "=false", ""},
		"SEL-5 all":                 {hnc.AnnotationAll + "=true", mid + " " + leaf},
		"SEL-5 all-false":           {hnc.AnnotationAll + "=false", ""},
	} {
		t.Run(name, func(t *testing.T) {
			secret := strings.ReplaceAll(strings.ToLower(name), " ", "-")
			put(t, secrets, object("Secret", root, secret, "1", test.annotation))
			flush(t, root, leaf)
			suite.EventuallyEqual(t, "namespaces with a copy", test.where, func() string { return having(t, secret, mid, leaf) })
		})
	}
}

// having returns which of the namespaces have the secret.
func having(t *testing.T, secret string, namespaces ...string) string {
	t.Helper()
	var found []string
	for _, ns := range namespaces {
		if strings.Contains(" "+present(t, secrets, ns), " "+secret+"=") {
			found = append(found, ns)
		}
	}
	return strings.Join(found, " ")
}

var flushes int

// flush returns when a secret that was created now has a copy, so that what was there before had its turn.
func flush(t *testing.T, root, leaf string) {
	t.Helper()
	flushes++
	name := fmt.Sprintf("zz-flush-%d", flushes)
	put(t, secrets, object("Secret", root, name, "1", hnc.AnnotationAll+"=true"))
	suite.EventuallyEqual(t, name, leaf, func() string { return having(t, name, leaf) })
}

// label sets the label env of a namespace to a JSON value.
func label(t *testing.T, namespace, value string) {
	t.Helper()
	body := []byte(`{"metadata":{"labels":{"env":` + value + `}}}`)
	if _, err := alice.CoreV1().Namespaces().Patch(t.Context(), namespace, types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestExceptionsAreReadAgainWhenANamespacesLabelsChange(t *testing.T) {
	configure(t, "secrets Propagate")
	root, mid, leaf := tree(t, "relabelled")
	put(t, secrets, object("Secret", root, "s", "1", hnc.AnnotationSelect+"=env in (prod, test)"))
	flush(t, root, leaf)
	for _, step := range []struct{ value, want string }{{`"prod"`, leaf}, {`"dev"`, ""}, {`"test"`, leaf}, {"null", ""}} {
		label(t, leaf, step.value)
		suite.EventuallyEqual(t, "namespaces with a copy when env is "+step.value, step.want, func() string { return having(t, "s", mid, leaf) })
	}
	// Taking the annotation away makes it an ordinary source.
	if err := patch(t, secrets, root, "s", `{"metadata":{"annotations":null}}`); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "namespaces with a copy", mid+" "+leaf, func() string { return having(t, "s", mid, leaf) })
}

func TestEventCannotParseSelector(t *testing.T) {
	configure(t, "secrets Propagate")
	root, mid, leaf := tree(t, "unreadable")
	// What the policy does not read, because there are so many annotations, is read by the propagator.
	many := []string{hnc.AnnotationTreeSelect + "=" + mid + ","}
	for i := range 1000 {
		many = append(many, fmt.Sprintf("example.com/%d=", i))
	}
	put(t, secrets, object("Secret", root, "empty-item", "1", many...))
	// And so is what the policy does not know: how long a label's value can be.
	put(t, secrets, object("Secret", root, "too-long", "1", hnc.AnnotationSelect+"=env="+strings.Repeat("a", 64)))
	flush(t, root, leaf)
	for _, name := range []string{"empty-item", "too-long"} {
		suite.EventuallyEqual(t, "event on "+name, hnc.EventCannotParse, func() string { return reason(t, root, name) })
		if got := having(t, name, mid, leaf); got != "" {
			t.Errorf("%s is propagated to %s", name, got)
		}
	}
}

// TestSel6Exclusions has the rows of docs/spec/hnc.md 3.10; all=true does not help any of them.
func TestSel6Exclusions(t *testing.T) {
	configure(t, "secrets Propagate", "configmaps Propagate")
	root, mid, leaf := tree(t, "excluded")
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: root, Name: "robot"}}
	if _, err := alice.CoreV1().ServiceAccounts(root).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*corev1.Secret{
		{ObjectMeta: metav1.ObjectMeta{Name: "x-token", Annotations: map[string]string{corev1.ServiceAccountNameKey: "robot"}}, Type: corev1.SecretTypeServiceAccountToken},
		{ObjectMeta: metav1.ObjectMeta{Name: "x-release"}, Type: "helm.sh/release.v1"},
		{ObjectMeta: metav1.ObjectMeta{Name: "x-finalizer", Finalizers: []string{"example.com/hold"}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "x-openshift", Annotations: map[string]string{"openshift.io/description": ""}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "x-label", Labels: map[string]string{"example.com/stays": "here"}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "y-label", Labels: map[string]string{"example.com/stays": "not"}}},
	} {
		if s.Annotations == nil {
			s.Annotations = map[string]string{}
		}
		s.Annotations[hnc.AnnotationAll] = "true"
		if _, err := alice.CoreV1().Secrets(root).Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = patch(t, secrets, root, "x-finalizer", `{"metadata":{"finalizers":null}}`) })
	put(t, configMaps, object("ConfigMap", root, "istio-ca-root-cert", "1", hnc.AnnotationAll+"=true"))
	put(t, configMaps, object("ConfigMap", root, "y-plain", "1"))
	flush(t, root, leaf)
	suite.EventuallyEqual(t, "namespaces with y-label", mid+" "+leaf, func() string { return having(t, "y-label", mid, leaf) })
	if got := present(t, secrets, leaf); strings.Contains(got, "x-") {
		t.Errorf("propagated: %s", got)
	}
	eventuallyPresent(t, configMaps, leaf, "y-plain=1<"+root)
	// What has a finalizer no more is propagated.
	if err := patch(t, secrets, root, "x-finalizer", `{"metadata":{"finalizers":null}}`); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "namespaces with a copy", leaf, func() string { return having(t, "x-finalizer", leaf) })
}

func TestCase8CopyAddedAndDropped(t *testing.T) {
	configure(t, "configmaps Propagate")
	root, _, leaf := tree(t, "tracking")
	c := object("ConfigMap", root, "a", "1",
		"argocd.argoproj.io/tracking-id=x", "configmanagement.gke.io/managed=enabled", "configsync.gke.io/declared-fields={}",
		"kubectl.kubernetes.io/last-applied-configuration={}", "meta.helm.sh/release-name=r", "example.com/note=n", "example.com/kept=k")
	c.SetLabels(map[string]string{
		"argocd.argoproj.io/instance": "x", "kustomize.toolkit.fluxcd.io/name": "x", "kustomize.toolkit.fluxcd.io/namespace": "x",
		"helm.toolkit.fluxcd.io/name": "x", "app.kubernetes.io/managed-by": "Helm", "example.com/local": "l",
		"app.kubernetes.io/instance": "shop", "example.com/kept": "k",
	})
	put(t, configMaps, c)
	eventuallyPresent(t, configMaps, leaf, "a=1<"+root)
	got, err := admin.CoreV1().ConfigMaps(leaf).Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"app.kubernetes.io/instance": "shop", "app.kubernetes.io/managed-by": "hnc.x-k8s.io", "example.com/kept": "k", hnc.LabelInheritedFrom: root,
	}
	if fmt.Sprint(got.Labels) != fmt.Sprint(want) {
		t.Errorf("labels %v, want %v", got.Labels, want)
	}
	if fmt.Sprint(got.Annotations) != "map[example.com/kept:k]" {
		t.Errorf("annotations %v", got.Annotations)
	}
}
