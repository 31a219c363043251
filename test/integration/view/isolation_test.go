package view

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// raw sends a request to a path of the view and returns the status code and the body.
func (tn *tenant) raw(t *testing.T, method, path, body string, header ...string) (int, string) {
	t.Helper()
	config := rest.CopyConfig(tn.view.Config)
	config.NextProtos = []string{"http/1.1"} // HTTP/2 has no header Connection.
	client, err := rest.HTTPClientFor(config)
	must(t, "client", err)
	r, err := http.NewRequestWithContext(t.Context(), method, tn.view.Config.Host+path, strings.NewReader(body))
	must(t, "request", err)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := client.Do(r)
	must(t, path, err)
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	must(t, path, err)
	return response.StatusCode, string(content)
}

func TestNothingOfAnotherTenantExists(t *testing.T) {
	eachView(t, "secluded", func(t *testing.T, one *tenant, root string) {
		other := newTenant(t, one.root+"-not")
		mine, theirs, missing := one.root+"-a", other.root+"-a", other.root+"-b"
		child(t, mine, one.root)
		child(t, theirs, other.root)
		// In a view with relative names, there are names without the prefix, and those of foreign namespaces.
		names := [][2]string{{theirs, missing}}
		if root != one.root {
			mine = strings.TrimPrefix(mine, one.root+"-")
			names = append(names, [2]string{"not-a", "not-b"}, [2]string{theirs + ".external", missing + ".external"})
		}
		for _, ns := range []string{root, mine} {
			configMap(t, one.view, ns, "mine")
		}
		for _, ns := range []string{other.root, theirs} {
			configMap(t, other.view, ns, "theirs")
		}
		for _, verb := range []string{http.MethodGet, http.MethodDelete, http.MethodPut, http.MethodPost, http.MethodPatch} {
			for _, path := range []string{"", "/configmaps", "/configmaps/theirs", "/pods/x/exec?command=id", "/serviceaccounts/default/token"} {
				for _, name := range names {
					_, exists := one.raw(t, verb, "/api/v1/namespaces/"+name[0]+path, "{}", "Content-Type", "application/json")
					code, missing := one.raw(t, verb, "/api/v1/namespaces/"+name[1]+path, "{}", "Content-Type", "application/json")
					if exists = strings.ReplaceAll(exists, name[0], name[1]); exists != missing {
						t.Errorf("%s %s of %s: what exists is told from what does not:\n%s\n%s", verb, path, name[0], exists, missing)
					}
					if code != http.StatusNotFound && code != http.StatusMethodNotAllowed {
						t.Errorf("%s %s of %s: got %d %s", verb, path, name[0], code, missing)
					}
				}
			}
		}
		suite.Eventually(t, "the config maps of the view", func() error {
			list, err := one.view.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{LabelSelector: "test"})
			if err == nil && len(list.Items) != 2 {
				err = fmt.Errorf("got %d config maps in the view, want 2", len(list.Items))
			}
			return err
		})
		namespaces, err := one.view.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		must(t, "namespaces", err)
		var found []string
		for _, ns := range namespaces.Items {
			found = append(found, ns.Name)
		}
		want := []string{root, mine}
		slices.Sort(want)
		if slices.Sort(found); !slices.Equal(found, want) {
			t.Errorf("the view has the namespaces %v", found)
		}
	})
}

func TestPathsAndHeadersThatCouldBeReadDifferentlyAreRejected(t *testing.T) {
	tn := newTenant(t, "paths")
	for _, path := range []string{
		"/api/v1/namespaces/paths/../kube-system/secrets", "/api/v1/namespaces/paths/%2e%2e/kube-system/secrets", "/api/v1/namespaces/paths%2fsecrets",
		"/api/v1//namespaces/kube-system/secrets", "/api/v1/namespaces/paths;x=y/secrets", "/api/v1/watch/namespaces/kube-system/secrets",
		"/api/v1/proxy/namespaces/kube-system/services/x", "/api/v1/namespaces/paths/secrets/%00",
	} {
		if code, body := tn.raw(t, http.MethodGet, path, ""); code != http.StatusBadRequest && code != http.StatusNotFound {
			t.Errorf("%s: got %d %s", path, code, body)
		}
	}
	for _, header := range [][]string{
		{"Impersonate-User", "system:admin"}, {"impersonate-group", "system:masters"}, {"Impersonate-Extra-Scopes", "x"}, {"X-Remote-User", "system:admin"},
		{"Sec-WebSocket-Protocol", "base64url.bearer.authorization.k8s.io.eA"},
	} {
		if code, body := tn.raw(t, http.MethodGet, "/api/v1/namespaces/paths/pods", "", header...); code != http.StatusBadRequest {
			t.Errorf("%s: got %d %s", header[0], code, body)
		}
	}
	// A header that is named as one of the connection is not the identity's.
	code, body := tn.raw(t, http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}", "Content-Type", "application/json", "Connection", "Authorization, Impersonate-User")
	if code != http.StatusCreated || !strings.Contains(body, "system:serviceaccount:people:tenant-") {
		t.Errorf("got %d %s", code, body)
	}
	config := rest.CopyConfig(tn.view.Config)
	config.BearerToken = "guess"
	stranger, err := suite.NewUser("stranger", config)
	must(t, "clients", err)
	if _, err := stranger.CoreV1().Pods(tn.root).List(t.Context(), metav1.ListOptions{}); err == nil || !strings.Contains(err.Error(), "use the kubeconfig of this view") {
		t.Errorf("without the token: %v", err)
	}
}

func TestWhatAppliesToTheWholeClusterIsAbsent(t *testing.T) {
	tn := newTenant(t, "absent")
	lists, err := tn.view.Discovery().ServerPreferredResources()
	must(t, "discovery", err)
	found := map[string][]string{}
	for _, list := range lists {
		for _, r := range list.APIResources {
			found[r.Name] = r.Verbs
			if strings.HasPrefix(list.GroupVersion, "resources.hnc.x-k8s.io") {
				t.Errorf("discovery shows %s", list.GroupVersion)
			}
		}
	}
	for _, name := range []string{"customresourcedefinitions", "persistentvolumes", "validatingwebhookconfigurations", "hncconfigurations", "mynamespaces"} {
		if found[name] != nil {
			t.Errorf("discovery shows %s", name)
		}
	}
	if !slices.Contains(found["namespaces"], "create") || !slices.Contains(found["pods"], "create") || !slices.Contains(found["subnamespaces"], "create") {
		t.Errorf("discovery lacks namespaced kinds: %v", found)
	}
	for _, name := range []string{"storageclasses", "nodes"} {
		if verbs := found[name]; len(verbs) == 0 || slices.Contains(verbs, "create") {
			t.Errorf("%s have the verbs %v", name, verbs)
		}
	}
	if verbs := found["clusterroles"]; !slices.Contains(verbs, "create") || slices.Contains(verbs, "deletecollection") {
		t.Errorf("ClusterRoles have the verbs %v", verbs)
	}
	for _, path := range []string{
		"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", "/api/v1/persistentvolumes", "/api/v1/nodes/a/proxy/pods",
		"/apis/resources.hnc.x-k8s.io/v1alpha2/namespaces/absent/pods", "/metrics", "/debug/pprof/", "/logs/", "/apis/storage.k8s.io/v1/storageclasses",
	} {
		method := http.MethodGet
		if strings.HasSuffix(path, "storageclasses") {
			method = http.MethodPost
		}
		if code, body := tn.raw(t, method, path, "{}", "Content-Type", "application/json"); code != http.StatusForbidden && code != http.StatusNotFound {
			t.Errorf("%s: got %d %s", path, code, body)
		}
	}
	_, body := tn.raw(t, http.MethodPost, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", "{}", "Content-Type", "application/json")
	if !strings.Contains(body, "turn the webhook off") {
		t.Errorf("a webhook is rejected with %s", body)
	}
	_, document := tn.raw(t, http.MethodGet, "/openapi/v3/apis/storage.k8s.io/v1", "")
	if strings.Contains(document, `"/apis/storage.k8s.io/v1/volumeattachments"`) || !strings.Contains(document, `"/apis/storage.k8s.io/v1/storageclasses"`) {
		t.Error("the OpenAPI document is not that of the view")
	}
}

// A namespace that leaves takes its objects out of all watches, and ends those of its own.
func TestANamespaceThatLeavesIsGone(t *testing.T) {
	tn := newTenant(t, "leaving")
	other := newTenant(t, "leaving-to")
	child(t, "leaving-a", tn.root)
	configMap(t, tn.view, "leaving-a", "mine")
	ctx, cancel := context.WithTimeout(t.Context(), suite.Deadline)
	defer cancel()
	one, err := tn.view.CoreV1().ConfigMaps("leaving-a").Watch(ctx, metav1.ListOptions{LabelSelector: "test"})
	must(t, "watch", err)
	defer one.Stop()
	leave(t, "leaving-a", other.root)
	for range one.ResultChan() {
		continue
	}
	if ctx.Err() != nil {
		t.Fatal("the watch of a namespace that left goes on")
	}
	suite.EventuallyEqual(t, "the namespace that left", "404", func() string {
		code, _ := tn.raw(t, http.MethodGet, "/api/v1/namespaces/leaving-a/configmaps", "")
		return strconv.Itoa(code)
	})
}

// leave makes a sub-namespace a full one, and moves it to another tree.
func leave(t *testing.T, name, parent string) {
	t.Helper()
	patch := []byte(`{"metadata":{"annotations":{"` + hnc.AnnotationSubnamespaceOf + `":null}}}`)
	_, err := admin.CoreV1().Namespaces().Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
	must(t, "convert", err)
	suite.Eventually(t, "move", func() error {
		_, err := admin.HNC.HncV1beta1().Hierarchies(name).Patch(t.Context(), hnc.Singleton, types.MergePatchType, []byte(`{"spec":{"parent":"`+parent+`"}}`), metav1.PatchOptions{})
		return err
	})
}
