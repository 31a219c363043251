package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/ui"
)

// page is a running `kubectl hns ui`.
type page struct{ address, token string }

func servePage(t *testing.T, u user, args ...string) *page {
	t.Helper()
	command := u.command(t.Context(), append([]string{"ui", "--open=false"}, args...)...)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	// The end of the test's context ends the process.
	t.Cleanup(func() { _ = command.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	p := &page{}
	p.address, p.token, _ = strings.Cut(strings.TrimSpace(line), "/#token=")
	p.token, _, _ = strings.Cut(p.token, ".")
	return p
}

// do sends a request as the page does, and returns the status and the body.
func (p *page) do(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, p.address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-HNS-Token", p.token)
	r.Header.Set("Origin", p.address)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var text strings.Builder
	if _, err := bufio.NewReader(response.Body).WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, text.String()
}

// read reads data of the page.
func read[T any](t *testing.T, p *page, path string) *T {
	t.Helper()
	status, body := p.do(t, http.MethodGet, path, "")
	var data T
	if err := json.Unmarshal([]byte(body), &data); err != nil || status != http.StatusOK {
		t.Fatalf("%s: status %d, %v: %s", path, status, err, body)
	}
	return &data
}

func (p *page) expect(t *testing.T, want int, method, path, body string) {
	t.Helper()
	if status, text := p.do(t, method, path, body); status != want {
		t.Errorf("%s %s %s: status %d, want %d: %s", method, path, body, status, want, text)
	}
}

// apply makes a change whose plan it has read.
func (p *page) apply(t *testing.T, want int, namespace string, change ui.Change) {
	t.Helper()
	query := url.Values{"change": {string(change.Kind)}, "child": {change.Child}}
	change.Plan = read[ui.Plan](t, p, "/api/namespaces/"+namespace+"/plan?"+query.Encode()).Digest
	body, err := json.Marshal(change)
	if err != nil {
		t.Fatal(err)
	}
	p.expect(t, want, http.MethodPost, "/api/namespaces/"+namespace+"/changes", string(body))
}

// The page answers as the user of the kubeconfig, and writes only with --write and that user's permissions.
func TestPageHasThePermissionsOfItsUser(t *testing.T) {
	namespace(t, "page", "")
	subnamespace(t, "page-a", "page")
	namespace(t, "page-x", "")
	bind(t, "page-a", "admin")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "password"}, StringData: map[string]string{"key": "hidden from the page"}}
	if _, err := kube.CoreV1().Secrets("page-a").Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	all, mine := servePage(t, root), servePage(t, alice, "--write")
	// kube-controller-manager completes the role admin when the cluster starts.
	eventually(t, func() error {
		if status, body := mine.do(t, http.MethodGet, "/api/namespaces/page-a", ""); status != http.StatusOK {
			return fmt.Errorf("status %d: %s", status, body)
		}
		return nil
	})
	parents := map[string]string{}
	for _, m := range read[ui.Forest](t, all, "/api/forest").Namespaces {
		parents[m.Name] = m.Parent
	}
	if _, ok := parents["page-x"]; !ok || parents["page-a"] != "page" {
		t.Errorf("the forest is %v", parents)
	}
	grants := read[ui.Access](t, all, "/api/namespaces/page-a/access?verb=impersonate&resource=sa").Grants
	if len(grants) == 0 || grants[0].Subject.Name != "alice" || grants[0].At != "page-a" || grants[0].Unknown {
		t.Errorf("the access is %+v", grants)
	}
	if plan := read[ui.Plan](t, all, "/api/namespaces/page-x/plan?change=move&parent=page"); plan.Make != "kubectl hns move page-x page" || len(plan.Status.Refusals) > 0 {
		t.Errorf("the plan is %+v", plan)
	}
	if content := read[ui.Content](t, all, "/api/namespaces/page-a/objects/secrets/password/content"); !strings.Contains(content.Manifest, "key: (hidden)") {
		t.Errorf("the content of a Secret is:\n%s", content.Manifest)
	}
	all.expect(t, http.StatusMethodNotAllowed, http.MethodPost, "/api/namespaces/page-x/changes", `{"change":"move","parent":"page"}`)

	forest := read[ui.Forest](t, mine, "/api/forest")
	for _, m := range forest.Namespaces {
		if m.Name == "page" || m.Name == "page-x" {
			t.Errorf("the tenant's forest has %s", m.Name)
		}
	}
	if !strings.Contains(forest.Partial, "list hierarchies") {
		t.Errorf("the tenant's forest is incomplete because of %q", forest.Partial)
	}
	grants = read[ui.Access](t, mine, "/api/namespaces/page-a/access?verb=delete&resource=pods").Grants
	if len(grants) != 1 || !grants[0].Unknown {
		t.Errorf("a role that the tenant may not read is %+v", grants)
	}
	const changes = "/api/namespaces/page-a/changes"
	mine.expect(t, http.StatusForbidden, http.MethodGet, "/api/namespaces/page-x", "")
	mine.expect(t, http.StatusForbidden, http.MethodGet, "/api/namespaces/page-x/plan?change=root", "")
	mine.expect(t, http.StatusForbidden, http.MethodPost, "/api/namespaces/page-x/changes", `{"change":"move","parent":"page-a"}`)
	mine.apply(t, http.StatusConflict, "page-a", ui.Change{Kind: ui.ChangeRoot})
	mine.expect(t, http.StatusBadRequest, http.MethodPost, changes, `{"change":"format"}`)
	mine.expect(t, http.StatusConflict, http.MethodPost, changes, `{"change":"child","child":"page-a-1"}`)
	mine.apply(t, http.StatusOK, "page-a", ui.Change{Kind: ui.ChangeChild, Child: "page-a-1"})
	eventually(t, func() error {
		if status, body := mine.do(t, http.MethodGet, "/api/namespaces/page-a-1/plan?change=delete", ""); status != http.StatusOK || strings.Contains(body, "refusals") {
			return fmt.Errorf("status %d: %s", status, body)
		}
		return nil
	})
	mine.apply(t, http.StatusBadRequest, "page-a-1", ui.Change{Kind: ui.ChangeDelete, Confirm: "page-a"})
	if _, err := kube.CoreV1().Namespaces().Get(t.Context(), "page-a-1", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	if plan := read[ui.Plan](t, mine, "/api/namespaces/page-a-1/plan?change=delete"); plan.Subnamespace == "" || plan.Namespace == "" {
		t.Errorf("the plan does not say what would be deleted: %+v", plan)
	}
	mine.apply(t, http.StatusOK, "page-a-1", ui.Change{Kind: ui.ChangeDelete, Confirm: "page-a-1"})
	eventually(t, func() error {
		ns, err := kube.CoreV1().Namespaces().Get(t.Context(), "page-a-1", metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && ns.DeletionTimestamp != nil {
			return nil
		}
		return fmt.Errorf("page-a-1 is not being deleted: %w", err)
	})
}
