package view

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const jsonType = "application/json"

// A tenant tries to reach through its view what is not in it.
func TestAttacksOfATenantOnItsView(t *testing.T) {
	eachView(t, "attacks", func(t *testing.T, tn *tenant, root string) {
		victim := newTenant(t, tn.root+"-victim")
		configMap(t, tn.view, root, "mine")
		t.Run("bodies", func(t *testing.T) { bodiesOfOtherObjects(t, tn, root, victim) })
		t.Run("cluster", func(t *testing.T) { kindsOfTheCluster(t, tn, root) })
		t.Run("names", func(t *testing.T) { namesOfOthers(t, tn, root, victim) })
		t.Run("pages", func(t *testing.T) { editedTokens(t, tn, root, victim) })
	})
}

// bodiesOfOtherObjects sends bodies that are about something else than the URL, or that the view cannot read.
func bodiesOfOtherObjects(t *testing.T, tn *tenant, root string, victim *tenant) {
	maps := "/api/v1/namespaces/" + root + "/configmaps"
	for _, request := range []struct{ method, path, contentType, body string }{
		{http.MethodPost, maps, jsonType, `{"metadata":{"name":"x","namespace":"` + victim.root + `"}}`},
		{http.MethodPost, maps, jsonType, `{"metadata":{"name":"x","namespace":"kube-system"}}`},
		{http.MethodPost, maps, jsonType, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`},
		{http.MethodPost, maps, jsonType, `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"x"}}`},
		{http.MethodPost, maps, jsonType, `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"` + victim.root + `"}}]}`},
		{http.MethodPut, maps + "/mine", jsonType, `{"metadata":{"name":"other"}}`},
		{http.MethodPut, maps + "/mine", jsonType, `{"metadata":{"name":"mine","namespace":"` + victim.root + `"}}`},
		{http.MethodPut, maps + "/mine", jsonType, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"mine"}}`},
		{http.MethodPatch, maps + "/mine", "application/merge-patch+json", `{"metadata":{"name":"other"}}`},
		{http.MethodPatch, maps + "/mine", "application/merge-patch+json", `{"metadata":{"namespace":"` + victim.root + `"}}`},
		{http.MethodPatch, maps + "/mine", "application/json-patch+json", `[{"op":"replace","path":"/metadata/namespace","value":"` + victim.root + `"}]`},
		{http.MethodPatch, maps + "/mine?fieldManager=x", "application/apply-patch+yaml", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"mine","namespace":"` + victim.root + `"}}`},
	} {
		code, body := tn.raw(t, request.method, request.path, request.body, "Content-Type", request.contentType)
		if code < http.StatusBadRequest || code >= http.StatusInternalServerError {
			t.Errorf("%s %s %s: got %d %s", request.method, request.path, request.body, code, body)
		}
	}
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	_, err := w.Write([]byte(`{"metadata":{"name":"compressed"}}`))
	must(t, "compress", err)
	must(t, "compress", w.Close())
	for _, path := range []string{maps, "/api/v1/namespaces"} {
		if code, body := tn.raw(t, http.MethodPost, path, compressed.String(), "Content-Type", jsonType, "Content-Encoding", "gzip"); code != http.StatusBadRequest && code != http.StatusUnsupportedMediaType {
			t.Errorf("a compressed body for %s: got %d %s", path, code, body)
		}
	}
	list, err := admin.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
	must(t, "list", err)
	for _, cm := range list.Items {
		if cm.Name == "x" || cm.Name == "other" || cm.Name == "compressed" || cm.Namespace == victim.root && cm.Name == "mine" {
			t.Errorf("%s/%s is created", cm.Namespace, cm.Name)
		}
	}
}

// kindsOfTheCluster tries to change roles of the cluster, to check tokens of others, and to enter a view by a path in a
// view.
func kindsOfTheCluster(t *testing.T, tn *tenant, root string) {
	role := `{"metadata":{"name":"aggregated","labels":{"rbac.authorization.k8s.io/aggregate-to-edit":"true"}},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["escalated"]}]}`
	const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	if code, body := tn.raw(t, http.MethodPost, roles, role, "Content-Type", jsonType); code != http.StatusCreated && code != http.StatusForbidden {
		t.Errorf("a role that is aggregated: got %d %s", code, body)
	}
	if code, body := tn.raw(t, http.MethodPatch, roles+"/edit", `{"rules":[]}`, "Content-Type", "application/merge-patch+json"); code != http.StatusForbidden {
		t.Errorf("the role edit: got %d %s", code, body)
	}
	// The tenant's role would be aggregated before a later one.
	later := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "later-" + tn.root, Labels: map[string]string{"rbac.authorization.k8s.io/aggregate-to-edit": "true"}},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{"example.com"}, Resources: []string{tn.root}, Verbs: []string{"get"}}}}
	_, err := admin.RbacV1().ClusterRoles().Create(t.Context(), later, metav1.CreateOptions{})
	must(t, "role", err)
	suite.Eventually(t, "the later role is aggregated", func() error {
		edit, err := admin.RbacV1().ClusterRoles().Get(t.Context(), "edit", metav1.GetOptions{})
		if rules := fmt.Sprint(edit.Rules); err == nil && (!strings.Contains(rules, tn.root) || strings.Contains(rules, "escalated")) {
			err = fmt.Errorf("the rules of the cluster's role edit are %s", rules)
		}
		return err
	})
	for _, path := range []string{
		"/apis/authentication.k8s.io/v1/tokenreviews", hnc.ViewPath(tn.root) + "/api/v1/namespaces", hnc.ViewPath("kube-system") + "/api/v1/namespaces/default/secrets",
		"/apis/view.hnc.x-k8s.io/v1alpha1/namespaces/" + root + "/tenantviews/view/proxy/api/v1/namespaces",
	} {
		if code, body := tn.raw(t, http.MethodPost, path, `{"spec":{"token":"x"}}`, "Content-Type", jsonType); code != http.StatusForbidden && code != http.StatusNotFound {
			t.Errorf("%s: got %d %s", path, code, body)
		}
	}
	// A Service of the name of the cluster's own is the tenant's.
	services := "/api/v1/namespaces/" + root + "/services"
	if code, body := tn.raw(t, http.MethodPost, services, `{"metadata":{"name":"kubernetes"},"spec":{"type":"ExternalName","externalName":"example.com"}}`, "Content-Type", jsonType); code != http.StatusCreated {
		t.Errorf("a service: got %d %s", code, body)
	}
	stored, err := admin.CoreV1().Services(tn.root).Get(t.Context(), "kubernetes", metav1.GetOptions{})
	if err != nil || stored.Spec.ExternalName != "example.com" {
		t.Errorf("the tenant's service is %v, %v", stored, err)
	}
	if own, err := admin.CoreV1().Services(metav1.NamespaceDefault).Get(t.Context(), "kubernetes", metav1.GetOptions{}); err != nil || own.Spec.Type != corev1.ServiceTypeClusterIP {
		t.Errorf("the service of the cluster is %v, %v", own, err)
	}
}

// namesOfOthers creates a namespace whose generated name begins with that of another tenant.
func namesOfOthers(t *testing.T, tn *tenant, root string, victim *tenant) {
	ns, err := tn.view.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: victim.root + "-"}}, metav1.CreateOptions{})
	must(t, "generateName", err)
	realName := ns.Name
	if root != tn.root {
		realName = tn.root + "-" + ns.Name
	}
	stored, err := admin.CoreV1().Namespaces().Get(t.Context(), realName, metav1.GetOptions{})
	must(t, "the namespace", err)
	if stored.Annotations[hnc.AnnotationSubnamespaceOf] != tn.root {
		t.Errorf("the namespace is one of %q", stored.Annotations[hnc.AnnotationSubnamespaceOf])
	}
	if code, body := victim.raw(t, http.MethodGet, "/api/v1/namespaces/"+realName, ""); code != http.StatusNotFound {
		t.Errorf("in the view of the other tenant: got %d %s", code, body)
	}
}

// editedTokens asks for the next page of a list with tokens that name other namespaces and revisions.
func editedTokens(t *testing.T, tn *tenant, root string, victim *tenant) {
	configMap(t, victim.view, victim.root, "theirs")
	configMap(t, tn.view, root, "second")
	for _, ns := range []string{"", root} {
		list, err := tn.view.CoreV1().ConfigMaps(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "test", Limit: 1})
		must(t, "list", err)
		var token map[string]any
		raw, err := base64.RawURLEncoding.DecodeString(list.Continue)
		must(t, "token", err)
		must(t, "token", json.Unmarshal(raw, &token))
		inner, _ := token["c"].(string)
		for _, change := range []map[string]any{
			{}, {"ns": victim.root}, {"ns": "kube-system"}, {"ns": ""}, {"ns": "", "c": ""}, {"ns": victim.root, "c": ""}, {"rv": "1"}, {"rv": 1}, {"rv": "999999999999"}, {"rv": "x"}, {"rv": -1},
			{"start": "../" + victim.root + "/"}, {"start": "/../../" + victim.root + "/a"}, {"start": ""}, {"c": edited(t, inner, "../"+victim.root+"/")}, {"c": edited(t, inner, "/../../secrets/")},
		} {
			changed := map[string]any{}
			for _, fields := range []map[string]any{token, change} {
				for key, value := range fields {
					changed[key] = value
				}
			}
			raw, err := json.Marshal(changed)
			must(t, "token", err)
			path := strings.ReplaceAll("/api/v1/namespaces/"+ns+"/configmaps?labelSelector=test&limit=500&continue=", "/namespaces//", "/")
			code, body := tn.raw(t, http.MethodGet, path+base64.RawURLEncoding.EncodeToString(raw), "") // clients would repeat it
			if len(change) == 0 && !strings.Contains(body, `"second"`) {
				t.Errorf("in %q, with the token itself: got %d %s", ns, code, body)
			}
			if code != http.StatusOK {
				continue
			}
			var found corev1.ConfigMapList
			must(t, "list", json.Unmarshal([]byte(body), &found))
			for _, cm := range found.Items {
				if cm.Name != "mine" && cm.Name != "second" {
					t.Errorf("in %q, with %s: got %s/%s", ns, raw, cm.Namespace, cm.Name)
				}
			}
		}
	}
}

// edited returns a token of kube-apiserver that begins at another key.
func edited(t *testing.T, token, start string) string {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(token)
	must(t, "token", err)
	fields := map[string]any{"v": "meta.k8s.io/v1"}
	if len(raw) > 0 {
		must(t, "token", json.Unmarshal(raw, &fields))
	}
	fields["start"] = start
	raw, err = json.Marshal(fields)
	must(t, "token", err)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// A view shows nobody more than the subtree. hns-gateway does not serve such users.
func TestAnAdministratorOfTheClusterSeesOnlyTheSubtreeInAView(t *testing.T) {
	tn := newTenant(t, "mastered")
	child(t, "mastered-a", tn.root)
	tn.direct = admin
	for _, view := range []mapping.Config{{Root: tn.root}, {Root: tn.root, Relative: true, Prefix: tn.root + "-"}} {
		tn.open(t, view)
		for _, path := range []string{"/api/v1/namespaces/kube-system/configmaps", "/api/v1/namespaces/" + people, "/api/v1/nodes/a/proxy/pods", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"} {
			// A view with relative names has definitions of its own.
			if code, body := tn.raw(t, http.MethodGet, path, ""); code != http.StatusNotFound && code != http.StatusForbidden && !strings.Contains(body, `"items":[]`) {
				t.Errorf("%s: got %d %.300s", path, code, body)
			}
		}
		suite.Eventually(t, "the namespaces of the subtree", func() error {
			list, err := tn.view.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
			if err == nil && len(list.Items) != 2 {
				err = fmt.Errorf("got %v", list.Items)
			}
			return err
		})
		maps, err := tn.view.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
		must(t, "list", err)
		for _, cm := range maps.Items {
			if cm.Namespace != "default" && !strings.HasPrefix(cm.Namespace, tn.root) && cm.Namespace != "a" {
				t.Errorf("got %s/%s", cm.Namespace, cm.Name)
			}
		}
	}
}
