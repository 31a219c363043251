// Package wire tests that the server answers clients of HNC's v1alpha2 as HNC's API did: their requests, byte by byte,
// and the answers, but for what is new in each (times, UIDs, versions).
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const binDir = "../../../_output/bin"

var (
	cp   *controlplane.ControlPlane
	kube kubernetes.Interface
)

func TestMain(m *testing.M) { os.Exit(suite.Run(m, binDir, setUp)) }

// setUp runs no propagator: nothing changes an object between two requests.
func setUp(ctx context.Context, started *controlplane.ControlPlane) error {
	cp = started
	var err error
	if kube, err = kubernetes.NewForConfig(cp.RESTConfig()); err != nil {
		return err
	}
	_, err = suite.Install(ctx, cp, []string{"../../../artifacts/dev"}, controlplane.Server{Name: "hns-apiserver", Args: []string{"--ready-timeout=0"}})
	return err
}

// manage lets hierarchies manage the keys that exchanges have. The configuration exists then.
func manage(t *testing.T) {
	t.Helper()
	client, err := versioned.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{"managed[.]example/.*"}
	if err := suite.SetRules(t.Context(), client, &v1beta1.Rules{ManagedNamespaceLabels: keys, ManagedNamespaceAnnotations: keys}); err != nil {
		t.Fatal(err)
	}
}

// rewritten are the kinds of which one object is written repeatedly.
var rewritten = map[any]bool{"HierarchyConfiguration": true, "HierarchicalResourceQuota": true}

func TestRequestsOfHNCsClients(t *testing.T) {
	a, b := "wire-a", "wire-b"
	create(t, a)
	create(t, b)
	// What is refused in kube-system is not for a lack of permissions.
	config := admin(t, a, b, "kube-system")
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	version := ""
	for _, e := range slices.Concat(exchanges(a, b), quotaExchanges(a)) {
		t.Run(e.name, func(t *testing.T) {
			code, answer := ask(t, client, config.Host, e, version)
			if code != e.code {
				t.Fatalf("got %d, want %d: %s", code, e.code, answer)
			}
			var object map[string]any
			if err := json.Unmarshal(answer, &object); err != nil {
				t.Fatal(err)
			}
			if metadata, ok := object["metadata"].(map[string]any); ok && metadata["resourceVersion"] != nil && rewritten[object["kind"]] {
				previous := version
				version = fmt.Sprint(metadata["resourceVersion"])
				if e.name == "PUT without a change" && version != previous {
					t.Errorf("the version changed from %s to %s", previous, version)
				}
			}
			if e.want == "" {
				return
			}
			var want any
			if err := json.Unmarshal([]byte(e.want), &want); err != nil {
				t.Fatal(err)
			}
			if got, want := canonical(t, redact(object)), canonical(t, want); got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

// It comes after the requests, which create the configuration.
func TestFieldsThatHNCDoesNotKnowSurviveItsClients(t *testing.T) {
	create(t, "kept")
	manage(t)
	client, err := dynamic.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range newer {
		at := func(version, resource string) dynamic.ResourceInterface {
			r := client.Resource(schema.GroupVersionResource{Group: "hnc.x-k8s.io", Version: version, Resource: resource})
			if n.namespace == "" {
				return r
			}
			return r.Namespace(n.namespace)
		}
		present, old := at("v1beta1", n.resource), at("v1alpha2", n.older)
		writes := map[string]func(*testing.T, *unstructured.Unstructured) error{
			"PUT": func(t *testing.T, u *unstructured.Unstructured) error {
				for field, value := range fields(t, n.change) {
					if err := unstructured.SetNestedField(u.Object, value, "spec", field); err != nil {
						t.Fatal(err)
					}
				}
				_, err := old.Update(t.Context(), u, metav1.UpdateOptions{})
				return err
			},
			"merge patch": func(t *testing.T, _ *unstructured.Unstructured) error {
				_, err := old.Patch(t.Context(), n.name, types.MergePatchType, []byte(`{"spec":`+n.change+`}`), metav1.PatchOptions{})
				return err
			},
			"JSON patch": func(t *testing.T, _ *unstructured.Unstructured) error {
				_, err := old.Patch(t.Context(), n.name, types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec","value":`+n.change+`}]`), metav1.PatchOptions{})
				return err
			},
			"apply": func(t *testing.T, u *unstructured.Unstructured) error {
				applied := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": n.name}, "spec": fields(t, n.change)}}
				applied.SetGroupVersionKind(u.GroupVersionKind())
				_, err := old.Apply(t.Context(), n.name, applied, metav1.ApplyOptions{FieldManager: "old", Force: true})
				return err
			},
		}
		for name, write := range writes {
			t.Run(n.older+" "+name, func(t *testing.T) {
				stored := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": n.name}, "spec": fields(t, n.spec)}}
				stored.SetGroupVersionKind(schema.GroupVersionKind{Group: "hnc.x-k8s.io", Version: "v1beta1", Kind: kinds[n.resource]})
				if _, err := present.Apply(t.Context(), n.name, stored, metav1.ApplyOptions{FieldManager: "new", Force: true}); err != nil {
					t.Fatal(err)
				}
				seen, err := old.Get(t.Context(), n.name, metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for field := range fields(t, n.spec) {
					if _, found, _ := unstructured.NestedFieldNoCopy(seen.Object, "spec", field); found && field != "resources" {
						t.Errorf("v1alpha2 shows %s", field)
					}
				}
				if err := write(t, seen); err != nil {
					t.Fatal(err)
				}
				got, err := present.Get(t.Context(), n.name, metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				spec := fields(t, text(t, got.Object["spec"]))
				delete(spec, "rules") // those of manage, and defaults
				if diff := cmp.Diff(fields(t, n.want), spec); diff != "" {
					t.Error(diff)
				}
				if i := slices.IndexFunc(got.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool { return m.Manager == "new" }); i < 0 {
					t.Errorf("the manager of the fields that v1alpha2 does not have is gone: %v", got.GetManagedFields())
				}
				// The next write finds the manager of a release in which v1alpha2 had all fields.
				if _, err := present.Patch(t.Context(), n.name, types.MergePatchType, []byte(`{
					"metadata":{"managedFields":[{"manager":"old","operation":"Apply","apiVersion":"hnc.x-k8s.io/v1alpha2","fieldsType":"FieldsV1","fieldsV1":{"f:spec":`+
					owned(t, n.spec)+`}}]},"spec":{"labels":null,"allowCascadingDeletion":null,"resources":null}}`), metav1.PatchOptions{}); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// admin returns a user who may do everything with hierarchies in the namespaces and with configurations, and nothing
// else.
func admin(t *testing.T, namespaces ...string) *rest.Config {
	t.Helper()
	config, err := cp.User("wire")
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "wire"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"hnc.x-k8s.io"}, Resources: []string{"*"}, Verbs: []string{"*"}}},
	}
	if _, err := kube.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "wire"}}
	configurations := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "wire-configurations"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"hnc.x-k8s.io"}, Resources: []string{"hncconfigurations"}, Verbs: []string{"*"}}},
	}
	if _, err := kube.RbacV1().ClusterRoles().Create(t.Context(), configurations, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	everywhere := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: configurations.Name}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: configurations.Name},
	}
	if _, err := kube.RbacV1().ClusterRoleBindings().Create(t.Context(), everywhere, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, namespace := range namespaces {
		binding := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "wire-" + namespace},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects:   subjects,
		}
		if _, err := kube.RbacV1().RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return config
}

func ask(t *testing.T, client *http.Client, host string, e exchange, version string) (int, []byte) {
	t.Helper()
	body := strings.ReplaceAll(e.body, "$VERSION", version)
	request, err := http.NewRequestWithContext(t.Context(), e.method, host+e.path, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer
}
