package kinds

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// overwritten returns the names of the records that a user sees in a namespace.
func (u user) overwritten(t *testing.T, namespace string) string {
	t.Helper()
	list, err := u.HNC.HncV1alpha3().OverwrittenObjects(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range list.Items {
		names = append(names, o.Name)
	}
	return strings.Join(names, " ")
}

func TestOverwrittenContentIsKeptForWhoMayReadIt(t *testing.T) {
	configure(t, "configmaps Propagate", "secrets AllowPropagate")
	root, mid, leaf := tree(t, "kept")
	all := rbacv1.PolicyRule{APIGroups: []string{hnc.GroupName}, Resources: []string{"overwrittenobjects"}, Verbs: []string{"*"}}
	reader, err := person(t.Context(), "kept-reader", all,
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "delete"}})
	if err != nil {
		t.Fatal(err)
	}
	remover, err := person(t.Context(), "kept-remover", all, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"delete"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"first", "second"} {
		put(t, configMaps, object("ConfigMap", leaf, "settings", value, "note=mine"))
		put(t, secrets, object("Secret", leaf, "token", value))
		put(t, configMaps, object("ConfigMap", root, "settings", "above"))
		put(t, secrets, object("Secret", root, "token", "above", hnc.AnnotationAll+"=true"))
		eventuallyPresent(t, configMaps, leaf, "settings=above<"+root)
		eventuallyPresent(t, secrets, leaf, "token=above<"+root)
		remove(t, configMaps, root, "settings")
		remove(t, secrets, root, "token")
		eventuallyPresent(t, configMaps, leaf, "")
		eventuallyPresent(t, secrets, leaf, "")
	}
	// Content that is too large to be kept replaces none.
	put(t, configMaps, object("ConfigMap", leaf, "settings", strings.Repeat("x", 600<<10)))
	put(t, configMaps, object("ConfigMap", root, "settings", "above"))
	eventuallyPresent(t, configMaps, leaf, "settings=above<"+root)
	remove(t, configMaps, root, "settings")
	eventuallyPresent(t, configMaps, leaf, "")
	records := reader.HNC.HncV1alpha3().OverwrittenObjects(leaf)
	var kept *v1alpha3.OverwrittenObject
	suite.Must(t, "the record", func() error {
		kept, err = records.Get(t.Context(), "configmaps:settings", metav1.GetOptions{})
		return err
	})
	if kept.Spec.Source != root || !strings.Contains(kept.Spec.Manifest, `"second"`) || !strings.Contains(kept.Spec.Manifest, `"note":"mine"`) {
		t.Errorf("got %+v", kept.Spec)
	}
	if left := time.Until(kept.Spec.ExpirationTime.Time); left < 6*24*time.Hour || left > 7*24*time.Hour {
		t.Errorf("it expires in %s", left)
	}
	if got := reader.overwritten(t, leaf); got != "configmaps:settings" {
		t.Errorf("who may list config maps sees %q", got)
	}
	if got := admin.overwritten(t, leaf); got != "configmaps:settings secrets:token" {
		t.Errorf("who may list everything sees %q", got)
	}
	t.Run("nobody reads them through others", func(t *testing.T) {
		list, err := admin.HNC.HncV1alpha3().OverwrittenObjects(leaf).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != 2 || list.Items[0].Spec.Manifest+list.Items[1].Spec.Manifest != "" {
			t.Errorf("a list has content: %v, %v", list, err)
		}
		list, err = admin.HNC.HncV1alpha3().OverwrittenObjects("").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) == 0 {
			t.Errorf("got %v, %v", list, err)
		}
		resources, err := admin.Discovery().ServerResourcesForGroupVersion("resources.hnc.x-k8s.io/v1alpha2")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range resources.APIResources {
			if strings.Contains(r.Name, "overwrittenobjects") {
				t.Errorf("they can be listed across a subtree, with the server's permissions: %s", r.Name)
			}
		}
	})
	if got := admin.overwritten(t, mid); got != "" {
		t.Errorf("where nothing was overwritten there is %q", got)
	}
	for _, name := range []string{"secrets:token", "secrets:no-such"} {
		_, err = records.Get(t.Context(), name, metav1.GetOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "this needs the verb get on secrets ") {
			t.Errorf("who may not get secrets: %s: got %v", name, err)
		}
		if err = records.Delete(t.Context(), name, metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("who may not delete secrets: %s: got %v", name, err)
		}
	}
	var token string
	t.Run("pages reveal nothing of what is left out", func(t *testing.T) {
		page, err := records.List(t.Context(), metav1.ListOptions{Limit: 1})
		if err != nil || len(page.Items) != 1 || page.Continue != "" || page.RemainingItemCount != nil {
			t.Errorf("got %+v, %v", page, err)
		}
		token = base64.RawURLEncoding.EncodeToString([]byte(`{"v":"meta.k8s.io/v1","rv":1,"start":"/a\u0000"}`))
		if page, err := records.List(t.Context(), metav1.ListOptions{Limit: 1, Continue: token}); !apierrors.IsResourceExpired(err) {
			t.Errorf("from a token: got %+v, %v", page, err)
		}
	})
	t.Run("lists decode no manifests", func(t *testing.T) {
		exact := metav1.ListOptions{ResourceVersion: "1", ResourceVersionMatch: metav1.ResourceVersionMatchExact}
		if _, err := records.List(t.Context(), exact); !apierrors.IsBadRequest(err) {
			t.Errorf("a list at an exact version: got %v", err)
		}
		if err := records.DeleteCollection(t.Context(), metav1.DeleteOptions{}, exact); !apierrors.IsBadRequest(err) {
			t.Errorf("a deletion at an exact version: got %v", err)
		}
		if err := records.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{Continue: token}); !apierrors.IsResourceExpired(err) {
			t.Errorf("a deletion from a token: got %v", err)
		}
		// A version that does not exist is not read.
		dryRun := metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}
		if err := records.DeleteCollection(t.Context(), dryRun, metav1.ListOptions{ResourceVersion: "9223372036854775807"}); err != nil {
			t.Errorf("a deletion at any version: got %v", err)
		}
	})
	t.Run("who may delete records does not read them", func(t *testing.T) {
		foreground := metav1.DeletePropagationForeground
		remove := func(name string, dryRun ...string) string {
			request := remover.HNC.HncV1alpha3().RESTClient().Delete().Namespace(leaf).Resource("overwrittenobjects")
			if name != "" {
				request = request.Name(name)
			}
			answer, err := request.Body(&metav1.DeleteOptions{DryRun: dryRun, PropagationPolicy: &foreground}).DoRaw(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return string(answer)
		}
		for _, answer := range []string{remove("", metav1.DryRunAll), remove("secrets:token", metav1.DryRunAll), remove("")} {
			if strings.Contains(answer, "manifest") || strings.Contains(answer, "settings") {
				t.Errorf("got %s", answer)
			}
		}
		if got := admin.overwritten(t, leaf); got != "configmaps:settings" {
			t.Errorf("who may delete secrets alone has left %q", got)
		}
	})
	forged := &v1alpha3.OverwrittenObject{ObjectMeta: metav1.ObjectMeta{Name: "configmaps:forged"}, Spec: v1alpha3.OverwrittenObjectSpec{
		Resource: "configmaps", Name: "forged", Source: root, Manifest: "{}",
	}}
	if _, err := admin.HNC.HncV1alpha3().OverwrittenObjects(leaf).Create(t.Context(), forged, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("somebody else's record: got %v", err)
	}
	t.Run("records go with their namespace", func(t *testing.T) {
		if err := alice.CoreV1().Namespaces().Delete(t.Context(), leaf, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		suite.EventuallyEqual(t, "the namespace is gone", "true", func() string {
			_, err := alice.CoreV1().Namespaces().Get(t.Context(), leaf, metav1.GetOptions{})
			return boolean(apierrors.IsNotFound(err))
		})
		if got := admin.overwritten(t, leaf); got != "" {
			t.Errorf("there is still %q", got)
		}
	})
}

func TestTheClusterChoosesWhatBecomesOfConflicts(t *testing.T) {
	set := func(ctx context.Context, policy string) {
		if _, err := operator.HNC.HncV1beta1().HNCConfigurations().Patch(ctx, hnc.ConfigurationName, types.MergePatchType,
			fmt.Appendf(nil, `{"spec":{"onConflict":%q}}`, policy), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	root, _, leaf := tree(t, "choice")
	suite.Must(t, "the operator's permissions", func() error {
		_, err := operator.HNC.HncV1beta1().HNCConfigurations().Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
		return err
	})
	set(t.Context(), "Keep")
	t.Cleanup(func() { set(context.WithoutCancel(t.Context()), "") })
	configure(t, "configmaps Propagate", "secrets AllowPropagate Overwrite")
	if _, err := admin.HNC.HncV1beta1().Hierarchies(root).Patch(t.Context(), hnc.Singleton, types.ApplyPatchType, []byte(
		`{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":{"propagation":[{"group":"networking.k8s.io","resource":"networkpolicies"}]}}`),
		metav1.PatchOptions{FieldManager: "propagation"}); err != nil {
		t.Fatal(err)
	}
	for _, at := range []struct{ namespace, value string }{{leaf, "local"}, {root, "above"}} {
		put(t, configMaps, object("ConfigMap", at.namespace, "a", at.value))
		put(t, secrets, object("Secret", at.namespace, "a", at.value, hnc.AnnotationAll+"=true"))
		put(t, networkPolicies, object("NetworkPolicy", at.namespace, "a", at.value))
	}
	eventuallyPresent(t, secrets, leaf, "a=above<"+root)
	// What comes later shows that what was there has been looked at.
	put(t, configMaps, object("ConfigMap", root, "b", "above"))
	put(t, networkPolicies, object("NetworkPolicy", root, "b", "above"))
	eventuallyPresent(t, configMaps, leaf, "a=local b=above<"+root)
	eventuallyPresent(t, networkPolicies, leaf, "a=local b=above<"+root)
	set(t.Context(), "Overwrite")
	eventuallyPresent(t, configMaps, leaf, "a=above<"+root+" b=above<"+root)
	eventuallyPresent(t, networkPolicies, leaf, "a=above<"+root+" b=above<"+root)
	_, err := operator.HNC.HncV1beta1().HNCConfigurations().Patch(t.Context(), hnc.ConfigurationName, types.MergePatchType,
		[]byte(`{"spec":{"onConflict":"Maybe"}}`), metav1.PatchOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.onConflict") {
		t.Errorf("got %v", err)
	}
}
