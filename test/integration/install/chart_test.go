package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

// byName returns the objects by kind and name, without what differs by intention: Helm creates the namespace of the
// servers, and what stays is annotated.
func byName(t *testing.T, objects []*unstructured.Unstructured) map[string]any {
	t.Helper()
	found := map[string]any{}
	for _, object := range objects {
		if object.GetKind() == "Namespace" && object.GetName() == controlplane.Namespace {
			continue
		}
		if object.GetKind() == "Namespace" || object.GetKind() == "PersistentVolumeClaim" {
			unstructured.RemoveNestedField(object.Object, "metadata", "annotations")
		}
		encoded, err := json.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		// Both are quotes in CEL. The chart's are double, because the expressions are in single quotes in YAML.
		text := string(encoded)
		if object.GroupVersionKind().Group == "admissionregistration.k8s.io" {
			text = strings.ReplaceAll(text, `\"`, "'")
		}
		var content any
		if err := json.Unmarshal([]byte(text), &content); err != nil {
			t.Fatal(err)
		}
		found[object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName()] = content
	}
	return found
}

func TestTheChartIsEqualToTheKustomizations(t *testing.T) {
	for name, args := range map[string][]string{
		"default":      nil,
		"ha":           {"--values=" + chart + "/ci/ha.yaml"},
		"cert-manager": {"--set=certificates.issuer=cert-manager"},
		"beside-hnc":   {"--set=besideHNC=true"},
		"excluded":     {"--set=excludedNamespaces={kube-system,kube-public,kube-node-lease,hnc-system,hns-system,vault}"},
		"sync":         {"--set=sync.enabled=true"},
		"view":         {"--set=view.enabled=true"},

		"view-cert-manager": {"--set=view.enabled=true,certificates.issuer=cert-manager"},
	} {
		t.Run(name, func(t *testing.T) {
			rendered, err := helmTemplate(t, args...)
			if err != nil {
				t.Fatal(err)
			}
			built, err := cp.Render(t.Context(), filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(byName(t, built), byName(t, rendered)); diff != "" {
				t.Errorf("kustomization (-), chart (+):\n%s", diff)
			}
		})
	}
}

// The API server validates all objects strictly, without storing them: unknown fields are errors.
func TestTheClusterAcceptsTheChart(t *testing.T) {
	if _, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: controlplane.Namespace, Labels: map[string]string{"pod-security.kubernetes.io/warn": "restricted"},
	}}, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	// As a release leaves it that was uninstalled: Helm takes it over.
	if _, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "hns-repositories", Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"},
		Annotations: map[string]string{"meta.helm.sh/release-name": "hns", "meta.helm.sh/release-namespace": controlplane.Namespace},
	}}, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(admin.Discovery()))
	for name, args := range map[string][]string{
		"default":      nil,
		"ha":           {"--values=" + chart + "/ci/ha.yaml"},
		"everything":   {"--values=" + chart + "/ci/everything.yaml"},
		"cert-manager": {"--set=certificates.issuer=cert-manager"},
		"sync":         {"--set=sync.enabled=true"},
		"view":         {"--set=view.enabled=true"},
		"storage":      {"--set=apiserver.etcd.storage.className=fast,apiserver.etcd.storage.size=10Gi"},
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := command(t, "helm", append([]string{"lint", "--strict", chart, "--namespace=hns-system", "--kube-version=1.37.1", "--set=image.registry=" + registry}, args...)...); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			objects, err := helmTemplate(t, args...)
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range objects {
				kind := object.GroupVersionKind()
				mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
				if meta.IsNoMatchError(err) && kind.Group == "cert-manager.io" {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				client := admin.Dynamic.Resource(mapping.Resource)
				options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
				if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
					_, err = client.Namespace(object.GetNamespace()).Create(t.Context(), object, options)
				} else {
					_, err = client.Create(t.Context(), object, options)
				}
				if kind.Kind == "Namespace" && apierrors.IsAlreadyExists(err) {
					continue
				}
				if err != nil {
					t.Errorf("%s %s: %v", kind.Kind, object.GetName(), err)
				}
			}
		})
	}
}

// An APIService of a version that is not served keeps namespaces of the whole cluster from being deleted.
func TestAVersionThatIsNotServedIsNotRegistered(t *testing.T) {
	for served, args := range map[bool][]string{true: nil, false: {"--set=disableV1alpha2=true"}} {
		rendered, err := helmTemplate(t, args...)
		if err != nil {
			t.Fatal(err)
		}
		objects := byName(t, rendered)
		if _, found := objects["APIService /v1alpha2.hnc.x-k8s.io"]; found != served {
			t.Errorf("%v: the APIService exists: %v", args, found)
		}
		server, err := json.Marshal(objects["Deployment hns-system/hns-apiserver"])
		if err != nil {
			t.Fatal(err)
		}
		if disabled := strings.Contains(string(server), "--runtime-config=hnc.x-k8s.io/v1alpha2=false"); disabled == served {
			t.Errorf("%v: hns-apiserver does not serve the version: %v", args, disabled)
		}
	}
}

func TestValuesWithoutSense(t *testing.T) {
	for want, args := range map[string][]string{
		"additional properties 'replicas' not allowed":          {"--set=replicas=3"},
		"at '/apiserver/replicas': got string, want integer":    {"--set-string=apiserver.replicas=three"},
		"at '/apiserver/replicas': minimum: got 0, want 1":      {"--set=apiserver.replicas=0"},
		"apiserver.replicas: 2 replicas need a shared etcd":     {"--set=apiserver.replicas=2"},
		"at '/apiserver/etcd/servers/0'":                        {"--set=apiserver.etcd.servers={http://plain:2379}"},
		"at '/sync/enabled': got string, want boolean":          {"--set-string=sync.enabled=yes"},
		"at '/view/enabled': got string, want boolean":          {"--set-string=view.enabled=yes"},
		"view.enabled: views need the admission policies":       {"--set=view.enabled=true,besideHNC=true"},
		"disableV1alpha2: kubectl hns migrate hands v1alpha2":   {"--set=disableV1alpha2=true,besideHNC=true"},
		"at '/certificates/issuer'":                             {"--set=certificates.issuer=me"},
		"certificates.caBundle: required":                       {"--set=certificates.issuer=secret"},
		"image.registry: required":                              {"--set=image.registry="},
		"excludedNamespaces: hns-system is missing":             {"--set=excludedNamespaces={kube-system}"},
		"at '/apiserver/flags/0'":                               {"--set=apiserver.flags={v=2}"},
		"namespace: the release must be in hns-system, not hnc": {"--namespace=hnc"},
		"at '/apiserver/etcd/storage/size'":                     {"--set=apiserver.etcd.storage.size=big"},
		"at '/excludedNamespaces/0'":                            {"--set=excludedNamespaces={a'] || true}"},
		"chart requires kubeVersion: >=1.36.0-0":                {"--kube-version=1.35.4"},
	} {
		if _, err := helmTemplate(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", args, err, want)
		}
	}
}

// Every value is documented where it is set, and the schema knows it.
func TestAllValuesAreInTheSchema(t *testing.T) {
	for _, file := range []string{"values.yaml", "ci/everything.yaml"} {
		if _, err := os.Stat(filepath.Join(chart, file)); err != nil {
			t.Fatal(err)
		}
		if _, err := helmTemplate(t, "--values="+filepath.Join(chart, file)); err != nil {
			t.Error(err)
		}
	}
}
