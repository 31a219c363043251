package view

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

var lamps = schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "lamps"}

const (
	lampsGroup      = "/apis/example.org/v1"
	lampsPath       = lampsGroup + "/lamps"
	lampsDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"lamps.example.org"},
"spec":{"group":"example.org","scope":"Cluster","names":{"plural":"lamps","singular":"lamp","kind":"Lamp","listKind":"LampList"},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
  "spec":{"type":"object","properties":{"size":{"type":"integer","description":"How bright it is."}}}}}},
"additionalPrinterColumns":[{"name":"Size","type":"integer","jsonPath":".spec.size"}]}]}}`
	lamp       = `{"apiVersion":"example.org/v1","kind":"Lamp","metadata":{"name":"%s"},"spec":{"size":7}}`
	notInViews = "is not part of a view"
)

// asAdministrator runs kubectl in the cluster.
func asAdministrator(ctx context.Context, t *testing.T, input string, args ...string) {
	t.Helper()
	command := exec.CommandContext(ctx, filepath.Join(binDir, "kubectl"), append([]string{"--kubeconfig", cp.Kubeconfig()}, args...)...)
	command.Stdin = strings.NewReader(input)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

func project(t *testing.T, root, resources string) error {
	t.Helper()
	_, err := admin.HNC.HncV1alpha3().TenantViews(root).Patch(t.Context(), hnc.TenantViewSingleton, types.MergePatchType, []byte(`{"spec":{"projected":`+resources+`}}`), metav1.PatchOptions{})
	return err
}

// answers waits until a list of lamps through a view has a status code and contains a text.
func answers(t *testing.T, tn *tenant, code int, text string) {
	t.Helper()
	suite.Eventually(t, fmt.Sprintf("%s gets %d, %s", tn.root, code, text), func() error {
		if got, body := tn.raw(t, "GET", lampsPath, ""); got != code || !strings.Contains(body, text) {
			return fmt.Errorf("got %d %s", got, body)
		}
		return nil
	})
}

// showsNoLamps checks that a view does not have the kind.
func showsNoLamps(t *testing.T, tn *tenant) {
	t.Helper()
	answers(t, tn, 403, notInViews)
	if out := tn.run(t, "", "api-resources"); strings.Contains(out, "lamps") {
		t.Errorf("the resources of %s are %s", tn.root, out)
	}
	for _, args := range [][]string{{"get", "lamps"}, {"explain", "lamps"}} {
		if out, err := tn.output(t, "", args...); err == nil || !strings.Contains(out, "the server doesn't have a resource type") {
			t.Errorf("%v in %s: %v: %s", args, tn.root, err, out)
		}
	}
	for _, path := range []string{"/openapi/v2", "/openapi/v3" + lampsGroup} {
		if _, body := tn.raw(t, "GET", path, ""); strings.Contains(body, `"`+lampsPath) {
			t.Errorf("%s of %s shows lamps", path, tn.root)
		}
	}
}

// A view shows cluster-scoped kinds that its TenantView projects, as its users may read them. Other views do not.
func TestAViewShowsWhatItProjects(t *testing.T) {
	ctx := t.Context()
	asAdministrator(ctx, t, lampsDefinition, "apply", "-f", "-")
	t.Cleanup(func() {
		asAdministrator(context.WithoutCancel(ctx), t, "", "delete", "--ignore-not-found", "crd/lamps.example.org", "clusterrole/lamps", "clusterrole/hns-gateway:lamps", "clusterrolebinding/lamps", "clusterrolebinding/hns-gateway:lamps")
	})
	suite.Eventually(t, "there is a lamp", func() error {
		_, err := administrator(t).Resource(lamps).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.org/v1", "kind": "Lamp", "metadata": map[string]any{"name": "one"}, "spec": map[string]any{"size": int64(7)},
		}}, metav1.CreateOptions{})
		return err
	})
	tn, other := newUser(t, "lit"), newUser(t, "dark")
	showsNoLamps(t, tn) // and kubectl keeps the documents

	for kind, reason := range map[string]string{
		`{"resource":"namespaces"}`: "each view has its own", `{"group":"apiregistration.k8s.io","resource":"apiservices"}`: "for all tenants",
		`{"group":"example.org","resource":"*"}`: "spec.projected[0].resource",
	} {
		if err := project(t, tn.root, "["+kind+"]"); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), reason) {
			t.Errorf("projecting %s: %v", kind, err)
		}
	}
	must(t, "project", project(t, tn.root, `[{"group":"example.org","resource":"lamps"},{"resource":"persistentvolumes"}]`))
	// Nothing lets hns-gateway act as its callers in the cluster.
	answers(t, tn, 403, "impersonate-on:user-info:list")
	asAdministrator(ctx, t, "", "create", "clusterrole", "hns-gateway:lamps", "--resource=lamps.example.org",
		"--verb=impersonate-on:user-info:get,impersonate-on:user-info:list,impersonate-on:user-info:watch")
	asAdministrator(ctx, t, "", "create", "clusterrolebinding", "hns-gateway:lamps", "--clusterrole=hns-gateway:lamps", "--serviceaccount=hns-system:hns-gateway")
	// Its callers have their own permissions.
	answers(t, tn, 403, `cannot list resource \"lamps\" in API group \"example.org\" at the cluster scope`)
	asAdministrator(ctx, t, "", "create", "clusterrole", "lamps", "--resource=lamps.example.org", "--verb=*")
	asAdministrator(ctx, t, "", "create", "clusterrolebinding", "lamps", "--clusterrole=lamps", "--group=developers")
	answers(t, tn, 200, `"name":"one"`)

	usesLamps(t, tn)
	showsNoLamps(t, other)

	events, err := tn.dynamic(t).Resource(lamps).Watch(ctx, metav1.ListOptions{})
	must(t, "watch", err)
	defer events.Stop()
	must(t, "project nothing", project(t, tn.root, "null"))
	for range events.ResultChan() {
		continue
	}
	answers(t, tn, 403, notInViews)
	tn.run(t, "", "api-resources") // reads discovery again
	showsNoLamps(t, tn)
}

// usesLamps reads lamps with kubectl, and tries to write them.
func usesLamps(t *testing.T, tn *tenant) {
	t.Helper()
	if out := tn.run(t, "", "get", "lamps"); !strings.Contains(out, "SIZE") || !strings.Contains(out, "one") {
		t.Errorf("a table: %s", out)
	}
	if out := tn.run(t, "", "api-resources", "--api-group=example.org", "-o", "wide", "--no-headers"); !slices.Contains(strings.Fields(out), "get,list,watch") {
		t.Errorf("the resources: %s", out)
	}
	for _, output := range []string{"plaintext", "plaintext-openapiv2"} {
		suite.Eventually(t, "kubectl explains the kind as "+output, func() error {
			if out, err := tn.output(t, "", "explain", "lamp.spec.size", "--output="+output); err != nil || !strings.Contains(out, "How bright it is.") {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		})
	}
	for verb, want := range map[string]string{"list": "yes", "create": "no"} {
		if out, _ := tn.output(t, "", "auth", "can-i", "-A", verb, "lamps.example.org"); !strings.HasPrefix(lastLine(out), want) {
			t.Errorf("can-i %s: %s", verb, out)
		}
	}
	events, err := tn.dynamic(t).Resource(lamps).Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=two"})
	must(t, "watch", err)
	defer events.Stop()
	asAdministrator(t.Context(), t, fmt.Sprintf(lamp, "two"), "apply", "-f", "-")
	if event := <-events.ResultChan(); event.Object == nil || event.Object.(*unstructured.Unstructured).GetName() != "two" {
		t.Errorf("the watch shows %v", event)
	}
	// Even though its user may write them in the cluster.
	asked := &authorizationv1.ResourceAttributes{Verb: "create", Group: lamps.Group, Resource: lamps.Resource}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: asked}}
	if answer, err := tn.direct.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{}); err != nil || !answer.Status.Allowed {
		t.Errorf("the user may not write lamps: %v", err)
	}
	for _, write := range [][]string{{"create", "-f", "-"}, {"apply", "--server-side", "-f", "-"}, {"replace", "-f", "-"}, {"delete", "lamp", "one"}, {"delete", "lamps", "--all"}, {"label", "lamp", "one", "a=b"}} {
		if out, err := tn.output(t, fmt.Sprintf(lamp, "one"), write...); err == nil || !strings.Contains(out, "only administrators of the cluster can change it") {
			t.Errorf("%v: %v: %s", write, err, out)
		}
	}
}

func lastLine(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}
