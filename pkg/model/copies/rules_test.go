package copies

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func defaults(t *testing.T, change ...func(*v1beta1.Rules)) *Rules {
	t.Helper()
	spec := &v1beta1.Rules{}
	for _, f := range change {
		f(spec)
	}
	v1beta1.SetDefaults_Rules(spec)
	rules, errs := NewRules(spec, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return &rules
}

// metadataOf returns the keys of the labels and annotations of a source's copies, without those that each copy has.
func metadataOf(t *testing.T, rules *Rules, labels, annotations map[string]string) string {
	t.Helper()
	u := parse(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"root","name":"x"}}`)
	u.SetLabels(labels)
	u.SetAnnotations(annotations)
	o, err := NewObject(u, rules)
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		Metadata struct{ Labels, Annotations map[string]string }
	}
	if err := json.Unmarshal(o.content.body("", ""), &body); err != nil {
		t.Fatal(err)
	}
	delete(body.Metadata.Labels, "hnc.x-k8s.io/inherited-from")
	delete(body.Metadata.Labels, "app.kubernetes.io/managed-by")
	return fmt.Sprint(sets.List(sets.KeySet(body.Metadata.Labels)), sets.List(sets.KeySet(body.Metadata.Annotations)))
}

// The names carry the rows of docs/spec/hnc.md 3.9.
func TestWhatCopiesLeaveOut(t *testing.T) {
	for name, test := range map[string]struct {
		// key is that of a label and of an annotation of the source.
		key    string
		change func(*v1beta1.Rules)
		want   string
	}{
		"anything":                              {"example.com/a", nil, "[example.com/a] [example.com/a]"},
		"without a domain":                      {"a", nil, "[a] [a]"},
		"our own":                               {"propagate.hnc.x-k8s.io/x", nil, "[] []"},
		"any domain that ends so":               {"foo-hnc.x-k8s.io/a", nil, "[] []"},
		"droppedLabels":                         {"example.com/a", func(o *v1beta1.Rules) { o.DroppedLabels = []string{"b", "example.com/a"} }, "[] [example.com/a]"},
		"droppedAnnotations":                    {"example.com/a", func(o *v1beta1.Rules) { o.DroppedAnnotations = []string{"example.com/a"} }, "[example.com/a] []"},
		"droppedLabels adds to the defaults":    {"argocd.argoproj.io/instance", func(o *v1beta1.Rules) { o.DroppedLabels = []string{"b"} }, "[] []"},
		"kubectl's is an annotation":            {"kubectl.kubernetes.io/last-applied-configuration", nil, "[kubectl.kubernetes.io/last-applied-configuration] []"},
		"Argo CD's id is an annotation":         {"argocd.argoproj.io/tracking-id", nil, "[argocd.argoproj.io/tracking-id] []"},
		"Argo CD's other annotations":           {"argocd.argoproj.io/sync-wave", nil, "[argocd.argoproj.io/sync-wave] [argocd.argoproj.io/sync-wave]"},
		"the common label is none":              {"app.kubernetes.io/instance", nil, "[app.kubernetes.io/instance] [app.kubernetes.io/instance]"},
		"Flux, kustomize":                       {"kustomize.toolkit.fluxcd.io/name", nil, "[] []"},
		"Flux, helm":                            {"helm.toolkit.fluxcd.io/namespace", nil, "[] []"},
		"Config Sync":                           {"configsync.gke.io/declared-version", nil, "[] []"},
		"Config Sync, older":                    {"configmanagement.gke.io/managed", nil, "[] []"},
		"Helm's are annotations":                {"meta.helm.sh/release-name", nil, "[meta.helm.sh/release-name] []"},
		"Velero's are labels":                   {"velero.io/restore-name", nil, "[] [velero.io/restore-name]"},
		"a domain that only begins so":          {"velero.io.example.com/a", nil, "[velero.io.example.com/a] [velero.io.example.com/a]"},
		"stripTrackingMetadata: false":          {"argocd.argoproj.io/instance", func(o *v1beta1.Rules) { o.StripTrackingMetadata = ptr.To(false) }, "[argocd.argoproj.io/instance] [argocd.argoproj.io/instance]"},
		"stripTrackingMetadata: false, kubectl": {"kubectl.kubernetes.io/last-applied-configuration", func(o *v1beta1.Rules) { o.StripTrackingMetadata = ptr.To(false) }, "[kubectl.kubernetes.io/last-applied-configuration] [kubectl.kubernetes.io/last-applied-configuration]"},
		"stripTrackingMetadata: false, our own": {"hnc.x-k8s.io/a", func(o *v1beta1.Rules) { o.StripTrackingMetadata = ptr.To(false) }, "[] []"},
	} {
		t.Run(name, func(t *testing.T) {
			var change []func(*v1beta1.Rules)
			if test.change != nil {
				change = append(change, test.change)
			}
			set := map[string]string{test.key: "v"}
			if got := metadataOf(t, defaults(t, change...), set, set); got != test.want {
				t.Errorf("copies have %s, want %s", got, test.want)
			}
		})
	}
}

func TestEveryCopySaysWhereItIsFromAndWhoManagesIt(t *testing.T) {
	u := parse(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"root","name":"x","labels":{"app.kubernetes.io/managed-by":"Helm"}}}`)
	for want, rules := range map[string]*Rules{
		`{"app.kubernetes.io/managed-by":"hnc.x-k8s.io","hnc.x-k8s.io/inherited-from":"root"}`: defaults(t),
		`{"hnc.x-k8s.io/inherited-from":"root"}`: defaults(t, func(o *v1beta1.Rules) {
			o.DroppedLabels = []string{"app.kubernetes.io/managed-by", "hnc.x-k8s.io/inherited-from"}
		}),
	} {
		o, err := NewObject(u, rules)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(parse(t, string(o.content.body("", ""))).GetLabels()); string(got) != want {
			t.Errorf("labels %s, want %s", got, want)
		}
	}
}

// The names carry the rows of docs/spec/hnc.md 3.10. Every object has the annotation all=true, which helps none of
// those.
func TestWhatIsNeverPropagated(t *testing.T) {
	for name, test := range map[string]struct {
		object string
		fit    bool
	}{
		"SEL-6 anything else":                          {`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"},"type":"Opaque"}`, true},
		"EXCL-finalizers a finalizer":                  {`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x","finalizers":["a/b"]}}`, false},
		"EXCL-token a service account's token":         {`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"},"type":"kubernetes.io/service-account-token"}`, false},
		"EXCL-helm a release":                          {`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"},"type":"helm.sh/release.v1"}`, false},
		"EXCL-helm another kind of that type":          {`{"apiVersion":"example.com/v1","kind":"Secret","metadata":{"name":"x"},"type":"helm.sh/release.v1"}`, true},
		"EXCL-ca kube-root-ca.crt":                     {`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kube-root-ca.crt"}}`, false},
		"EXCL-ca istio-ca-root-cert":                   {`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"istio-ca-root-cert"}}`, false},
		"EXCL-ca a secret of that name":                {`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"kube-root-ca.crt"}}`, true},
		"QUOTA of no scope":                            {`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"hrq.hnc.x-k8s.io"}}`, false},
		"QUOTA of a scope":                             {`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"hrq.hnc.x-k8s.io.0123456789abcdef"}}`, false},
		"QUOTA a ResourceQuota of another name":        {`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"hrq"}}`, true},
		"QUOTA a ConfigMap of that name":               {`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"hrq.hnc.x-k8s.io"}}`, true},
		"EXCL-label cattle.io/creator=norman":          {`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x","labels":{"cattle.io/creator":"norman"}}}`, false},
		"EXCL-label cattle.io/creator=somebody else":   {`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x","labels":{"cattle.io/creator":"x"}}}`, true},
		"EXCL-openshift openshift.io/description":      {`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x","annotations":{"openshift.io/description":""}}}`, false},
		"of a repository, with all that users may add": {`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x","finalizers":["a/b"],"labels":{"hnc.x-k8s.io/repository-sync":"policy","cattle.io/creator":"norman"},"annotations":{"openshift.io/description":""}}}`, true},
		"of a repository, a release":                   {`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x","labels":{"hnc.x-k8s.io/repository-sync":"policy"}},"type":"helm.sh/release.v1"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			u := parse(t, test.object)
			annotations := u.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations["propagate.hnc.x-k8s.io/all"] = "true"
			u.SetAnnotations(annotations)
			u.SetNamespace("root")
			o, err := NewObject(u, defaults(t))
			if err != nil {
				t.Fatal(err)
			}
			for _, mode := range []v1beta1.SynchronizationMode{v1beta1.Propagate, v1beta1.AllowPropagate} {
				index := NewIndex(Roles)
				index.Mode = mode
				if got := index.Propagates(o, Destination{}); got != test.fit {
					t.Errorf("propagated in mode %s: %v", mode, got)
				}
			}
		})
	}
	// What is given replaces the default; a label without a value is one.
	norman := parse(t, `{"metadata":{"name":"x","labels":{"cattle.io/creator":"norman"}}}`)
	empty := parse(t, `{"metadata":{"name":"x","labels":{"stay":""}}}`)
	rules := defaults(t, func(o *v1beta1.Rules) {
		o.SkippedObjects = []metav1.LabelSelector{{MatchLabels: map[string]string{"a": "b"}}, {MatchLabels: map[string]string{"stay": ""}}}
	})
	if rules.Excludes(norman, schema.GroupKind{}, "") != "" || rules.Excludes(empty, schema.GroupKind{}, "") == "" {
		t.Error("the rule does not replace the default")
	}
}

func TestTheDocumentationListsWhatCopiesLeaveOut(t *testing.T) {
	text, err := os.ReadFile("../../../docs/kinds.md")
	if err != nil {
		t.Fatal(err)
	}
	where := map[[2]bool]string{{true, true}: "label, annotation", {true, false}: "label", {false, true}: "annotation"}
	for _, m := range trackingMetadata {
		if line := fmt.Sprintf("| %s | `%s` | %s |\n", m.Tool, m.Key, where[[2]bool{m.Labels, m.Annotations}]); !strings.Contains(string(text), line) {
			t.Errorf("no line %q", line)
		}
	}
}
