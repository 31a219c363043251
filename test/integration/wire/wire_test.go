// Package wire tests that the server answers clients of HNC's v1alpha2 as HNC's API did: their requests, byte by byte, and
// the answers, but for what is new in each (times, UIDs, versions).
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

const binDir = "../../../_output/bin"

var (
	cp   *controlplane.ControlPlane
	kube kubernetes.Interface
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "wire")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if cp, err = controlplane.Start(ctx, controlplane.Config{Dir: dir, BinDir: binDir, UnsafeNoFsync: true}); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cp.Stop(ctx)) }()
	if kube, err = kubernetes.NewForConfig(cp.RESTConfig()); err != nil {
		return 0, err
	}
	installation, err := cp.Install(ctx, "../../../artifacts/dev")
	if err != nil {
		return 0, err
	}
	port, err := cp.StartServer(ctx, installation, controlplane.Server{Name: "hnc-apiserver"})
	if err != nil {
		return 0, err
	}
	if err := cp.Register(ctx, installation, port); err != nil {
		return 0, err
	}
	// Without the propagator nothing changes an object between two requests.
	return m.Run(), nil
}

// exchange is a request and the answer to it.
type exchange struct {
	name         string
	method, path string
	// body is what the client sends. $VERSION stands for the version of the object in the answer before.
	body string
	code int
	// want is the answer; of an error it is the Status. Empty means that only the code matters.
	want string
}

const group = "/apis/hnc.x-k8s.io/v1alpha2"

func exchanges(a, b string) []exchange {
	hierarchies, anchors := group+"/namespaces/"+a+"/hierarchyconfigurations", group+"/namespaces/"+a+"/subnamespaceanchors"
	hierarchy := func(spec string) string {
		return `{"kind":"HierarchyConfiguration","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"hierarchy","namespace":"` + a +
			`","resourceVersion":"$VERSION","creationTimestamp":null},"spec":` + spec + `,"status":{}}`
	}
	stored := func(generation int, spec string) string {
		return fmt.Sprintf(`{"kind":"HierarchyConfiguration","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"hierarchy","namespace":%q,`+
			`"generation":%d,"ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":%q}]},"spec":%s,"status":{}}`, a, generation, a, spec)
	}
	return []exchange{
		{name: "C3 an absent object", method: "GET", path: hierarchies + "/hierarchy", code: 404,
			want: `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"hierarchyconfigurations.hnc.x-k8s.io \"hierarchy\" not found",` +
				`"reason":"NotFound","details":{"name":"hierarchy","group":"hnc.x-k8s.io","kind":"hierarchyconfigurations"},"code":404}`},
		{name: "create by POST to the object's URL", method: "POST", path: hierarchies + "/hierarchy",
			body: `{"kind":"HierarchyConfiguration","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"hierarchy","namespace":"` + a +
				`","creationTimestamp":null},"spec":{"parent":"` + b + `"},"status":{}}`,
			code: 201, want: stored(1, `{"parent":"`+b+`"}`)},
		{name: "read", method: "GET", path: hierarchies + "/hierarchy", code: 200, want: stored(1, `{"parent":"`+b+`"}`)},
		{name: "PUT of the whole object", method: "PUT", path: hierarchies + "/hierarchy",
			body: hierarchy(`{"parent":"` + b + `","allowCascadingDeletion":true}`), code: 200,
			want: stored(2, `{"parent":"`+b+`","allowCascadingDeletion":true}`)},
		{name: "PUT without a change", method: "PUT", path: hierarchies + "/hierarchy",
			body: hierarchy(`{"parent":"` + b + `","allowCascadingDeletion":true}`), code: 200,
			want: stored(2, `{"parent":"`+b+`","allowCascadingDeletion":true}`)},
		{name: "an unknown field is pruned", method: "PUT", path: hierarchies + "/hierarchy",
			body: hierarchy(`{"parent":"` + b + `","unknown":1}`), code: 200, want: stored(3, `{"parent":"`+b+`"}`)},
		{name: "a list", method: "GET", path: hierarchies, code: 200,
			want: `{"kind":"HierarchyConfigurationList","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{},"items":[` +
				strings.Replace(stored(3, `{"parent":"`+b+`"}`), `"kind":"HierarchyConfiguration","apiVersion":"hnc.x-k8s.io/v1alpha2",`, "", 1) + `]}`},
		{name: "a stale version", method: "PUT", path: hierarchies + "/hierarchy", body: strings.ReplaceAll(hierarchy(`{}`), "$VERSION", "1"), code: 409},
		{name: "H10 CASE-2 itself as parent", method: "PUT", path: hierarchies + "/hierarchy", body: hierarchy(`{"parent":"` + a + `"}`), code: 409},
		{name: "H9 CASE-2 a parent that does not exist", method: "PUT", path: hierarchies + "/hierarchy", body: hierarchy(`{"parent":"nowhere"}`), code: 403},
		{name: "another name", method: "POST", path: hierarchies,
			body: `{"kind":"HierarchyConfiguration","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"other"}}`, code: 422},
		{name: "an anchor by POST to its URL", method: "POST", path: anchors + "/sub-of-" + a + "?dryRun=All",
			body: `{"kind":"SubnamespaceAnchor","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"sub-of-` + a + `","namespace":"` + a +
				`","creationTimestamp":null},"spec":{},"status":{}}`,
			code: 201, want: `{"kind":"SubnamespaceAnchor","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"sub-of-` + a + `","namespace":"` + a +
				`","generation":1,"ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":"` + a +
				`"}],"annotations":{"hnc.x-k8s.io/requester":"wire"},"finalizers":["hnc.x-k8s.io/subnamespace"]},"spec":{},"status":{"status":"Missing"}}`},
		{name: "A5 CASE-2 an anchor of an existing namespace", method: "POST", path: anchors + "/" + b,
			body: `{"kind":"SubnamespaceAnchor","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"` + b + `","namespace":"` + a + `"}}`, code: 409},
		{name: "A1 an anchor whose name is no label", method: "POST", path: anchors,
			body: `{"kind":"SubnamespaceAnchor","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"a.b"}}`, code: 422},
		{name: "C1 a body that is none", method: "POST", path: anchors, body: `{`, code: 400},
		{name: "C1 another kind", method: "POST", path: anchors, body: `{"kind":"Pod","apiVersion":"v1"}`, code: 400},
		{name: "delete", method: "DELETE", path: hierarchies + "/hierarchy", code: 200,
			want: `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"hierarchy","group":"hnc.x-k8s.io","kind":"hierarchyconfigurations"}}`},
		{name: "delete what is gone", method: "DELETE", path: hierarchies + "/hierarchy", code: 404},
	}
}

func TestRequestsOfHNCsClients(t *testing.T) {
	a, b := "wire-a", "wire-b"
	for _, name := range []string{a, b} {
		if _, err := kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	config := admin(t, a, b)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	version := ""
	for _, e := range exchanges(a, b) {
		code, answer := ask(t, client, config.Host, e, version)
		if code != e.code {
			t.Errorf("%s: got %d, want %d: %s", e.name, code, e.code, answer)
			continue
		}
		var object map[string]any
		if err := json.Unmarshal(answer, &object); err != nil {
			t.Errorf("%s: %v", e.name, err)
			continue
		}
		if metadata, ok := object["metadata"].(map[string]any); ok && metadata["resourceVersion"] != nil && object["kind"] == "HierarchyConfiguration" {
			previous := version
			version = fmt.Sprint(metadata["resourceVersion"])
			if e.name == "PUT without a change" && version != previous {
				t.Errorf("%s: the version changed from %s to %s", e.name, previous, version)
			}
		}
		if e.want == "" {
			continue
		}
		var want any
		if err := json.Unmarshal([]byte(e.want), &want); err != nil {
			t.Fatalf("%s: %v", e.name, err)
		}
		if got, want := canonical(t, redact(object)), canonical(t, want); got != want {
			t.Errorf("%s:\n got %s\nwant %s", e.name, got, want)
		}
	}
}

// admin returns a user who may do everything with hierarchies in the namespaces, and nothing else.
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
	for _, namespace := range namespaces {
		binding := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "wire"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "wire"}},
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

// redact takes out what is new in each answer.
func redact(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
			delete(value, key)
		}
		for _, field := range value {
			redact(field)
		}
	case []any:
		for _, item := range value {
			redact(item)
		}
	}
	return value
}

func canonical(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
