package browser

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// namespaces creates full namespaces. They stay: their names belong to one test.
func namespaces(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := admin.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func hierarchy(t *testing.T, namespace string) (*v1beta1.Hierarchy, error) {
	return admin.HNC.HncV1beta1().Hierarchies(namespace).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
}

// Each change is shown as a plan, and made when it is confirmed.
func TestChanges(t *testing.T) {
	t.Parallel()
	b := open(t, writable, "/plan")
	namespaces(t, "act", "act-other")
	for _, change := range []struct {
		query, shows, command string
		done                  func() error
	}{
		{"namespace=act&change=child&child=act-child", "act-child would be created below act", "kubectl hns create act-child -n act", func() error {
			_, err := admin.CoreV1().Namespaces().Get(t.Context(), "act-child", metav1.GetOptions{})
			return err
		}},
		{"namespace=act&change=allow", "would delete its sub-namespaces", "kubectl hns set act --allow-cascading-deletion", func() error {
			h, err := hierarchy(t, "act")
			if err == nil && (h.Spec.AllowCascadingDeletion == nil || !*h.Spec.AllowCascadingDeletion) {
				return fmt.Errorf("cascading deletion is not allowed: %+v", h.Spec)
			}
			return err
		}},
		{"namespace=act&change=mode&resource=configmaps&mode=Propagate", "Giving configmaps the mode Propagate from act down would", "kubectl edit hierarchies.hnc.x-k8s.io hierarchy -n act", func() error {
			h, err := hierarchy(t, "act")
			if err == nil && (len(h.Spec.Propagation) != 1 || h.Spec.Propagation[0].Resource != "configmaps") {
				return fmt.Errorf("the modes are %+v", h.Spec.Propagation)
			}
			return err
		}},
		{"namespace=act&change=move&parent=act-other", "act the parent act-other", "kubectl hns move act act-other", func() error { return hasParent(t, "act", "act-other") }},
		{"namespace=act&change=root", "act", "kubectl hns move act --root", func() error { return hasParent(t, "act", "") }},
	} {
		b.visit("/plan?" + change.query)
		b.shows("[data-plan] h2", change.shows)
		b.shows("[aria-labelledby=make] .copy", change.command)
		b.click("[aria-labelledby=make] > button")
		b.click("dialog button.primary")
		b.shows("p.good", "Done.")
		suite.Eventually(t, change.query, change.done)
	}

	b.visit("/plan?namespace=act-child&change=delete")
	b.click("[aria-labelledby=make] > button")
	b.until("a deletion has to be confirmed", "document.querySelector('dialog button.danger').disabled")
	b.do(chromedp.SendKeys("dialog input", "act", chromedp.ByQuery))
	b.until("by the whole name", "document.querySelector('dialog input').value === 'act' && document.querySelector('dialog button.danger').disabled")
	b.do(chromedp.SendKeys("dialog input", "-child", chromedp.ByQuery))
	b.click("dialog button.danger:not(:disabled)")
	b.shows("p.good", "is being deleted")
	suite.Eventually(t, "act-child is deleted", func() error {
		_, err := admin.CoreV1().Namespaces().Get(t.Context(), "act-child", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there: %w", err)
	})
	// A full namespace is not deleted by the page, and a refusal names the rule.
	b.visit("/plan?namespace=act&change=delete")
	b.shows("[aria-labelledby=make]", "The page does not make this change")
	b.visit("/plan?namespace=acme&change=move&parent=team-a")
	b.shows("[data-plan=move] .bad", "It would be refused")
}

// What is confirmed is the plan that was shown.
func TestAPlanThatHasChangedIsNotApplied(t *testing.T) {
	t.Parallel()
	namespaces(t, "shown", "shown-parent")
	b := open(t, writable, "/plan?namespace=shown&change=move&parent=shown-parent")
	b.shows("[data-plan] h2", "would write no object")
	b.click("[aria-labelledby=make] > button")
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "shown-parent", Name: "late"}}
	if _, err := admin.RbacV1().Roles("shown-parent").Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	b.shows("[data-plan] h2", "would add 1 object")
	b.shows("dialog h2", "will write no object")
	b.click("dialog button.primary")
	b.shows("dialog", "The plan has changed")
	if err := hasParent(t, "shown", ""); err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
	b.click("dialog button[type=button]")
	b.click("[aria-labelledby=make] > button")
	b.shows("dialog h2", "will add 1 object")
	b.click("dialog button.primary")
	b.shows("p.good", "Done.")
}

// What a user has typed stays while the page reads again.
func TestTypedTextStays(t *testing.T) {
	t.Parallel()
	b := open(t, writable, "/plan?namespace=acme&change=constructor")
	b.shows("h1", "Plan")
	b.visit("/plan")
	b.do(chromedp.SetValue("[name=change]", "mode", chromedp.ByQuery), chromedp.Evaluate("document.querySelector('[name=change]').dispatchEvent(new Event('change', {bubbles: true}))", nil))
	b.do(chromedp.SendKeys("[name=namespace]", "typed", chromedp.ByQuery), chromedp.SendKeys("[name=resource]", "secrets", chromedp.ByQuery), chromedp.SetValue("[name=mode]", "Remove", chromedp.ByQuery))
	const values = "[...document.querySelectorAll('main form [name]')].map(e => e.value).join()"
	b.until("it is typed", values+" === 'typed,mode,secrets,Remove'")
	namespaces(t, "typing")
	b.shows(".trees a", "typing")
	if got := b.text(values); got != "typed,mode,secrets,Remove" {
		t.Errorf("the form has %s", got)
	}
	b.visit("/ns/acme/access")
	b.do(chromedp.SendKeys("[name=verb]", "get", chromedp.ByQuery))
	namespaces(t, "typing-more")
	b.shows(".trees a", "typing-more")
	if got := b.text("document.querySelector('[name=verb]').value"); got != "get" {
		t.Errorf("the verb is %q", got)
	}
}

func hasParent(t *testing.T, namespace, parent string) error {
	h, err := hierarchy(t, namespace)
	if err == nil && h.Spec.Parent != parent {
		return fmt.Errorf("the parent of %s is %q", namespace, h.Spec.Parent)
	}
	return err
}

func TestDraggingANamespacePlansAMove(t *testing.T) {
	b := open(t, readOnly, "/")
	b.shows("#row-globex-web", "globex-web")
	center := func(row string) (x, y float64) {
		var box []float64
		b.do(chromedp.Evaluate("(r => [r.left + r.width / 2, r.top + r.height / 2])(document.getElementById('row-"+row+"').getBoundingClientRect())", &box))
		return box[0], box[1]
	}
	dragged := make(chan *input.DragData, 1)
	chromedp.ListenTarget(b.ctx, func(event any) {
		if e, ok := event.(*input.EventDragIntercepted); ok {
			dragged <- e.Data
		}
	})
	x, y := center("globex-web")
	b.do(input.SetInterceptDrags(true), chromedp.MouseEvent(input.MouseMoved, x, y), chromedp.MouseEvent(input.MousePressed, x, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.MouseMoved, x+5, y+5, chromedp.ButtonLeft), chromedp.MouseEvent(input.MouseMoved, x+9, y+9, chromedp.ButtonLeft))
	var data *input.DragData
	select {
	case data = <-dragged:
	case <-time.After(suite.Deadline):
		t.Fatal("the row is not dragged")
	}
	x, y = center("team-b")
	for _, kind := range []input.DispatchDragEventType{input.DragEnter, input.DragOver, input.Drop} {
		b.do(input.DispatchDragEvent(kind, x, y, data))
	}
	b.shows("[data-plan=move] h2", "Giving globex-web the parent team-b would add")
	b.visit("/")
	b.shows("#row-team-b", "team-b")
	b.do(chromedp.Evaluate(`(data => {
		data.setData('text/x-namespace', 'a&change=delete')
		document.getElementById('row-team-b').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true}))
	})(new DataTransfer())`, nil))
	b.until("what another page has begun to drag is one name", "new URLSearchParams(location.search).get('namespace') === 'a&change=delete'")
}

func TestChangesOfTheClusterAreShownAsTheyHappen(t *testing.T) {
	t.Parallel()
	b := open(t, readOnly, "/")
	b.shows("header .state", "Live")
	b.until("the page stays", "window.same = true")
	namespaces(t, "live", "live-a")
	b.until("a new namespace is shown", "document.getElementById('row-live-a')?.getAttribute('aria-level') === '1'")
	h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: "live-a", Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: "live"}}
	if _, err := admin.HNC.HncV1beta1().Hierarchies("live-a").Create(t.Context(), h, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	b.until("its new place is shown", "document.getElementById('row-live-a')?.getAttribute('aria-level') === '2'")
	c := open(t, readOnly, "/ns/live-a")
	c.shows("h1", "live-a")
	c.shows(".trees a[aria-current=page]", "live-a")
	if err := admin.CoreV1().Namespaces().Delete(t.Context(), "live-a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	b.until("a deleted one is not", "!document.getElementById('row-live-a')")
	b.until("without loading the page again", "window.same")
	c.shows("main", "It has been deleted")
	c.until("the trees at the left do not have it", "![...document.querySelectorAll('.trees a')].some(a => a.textContent === 'live-a')")
}

// What the pages offer to copy and to save is what they show.
func TestCopiesAndFiles(t *testing.T) {
	b := open(t, readOnly, "/?view=drawing")
	dir := t.TempDir()
	b.do(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir))
	saved := func(name, contains string) {
		suite.Eventually(t, name, func() error {
			content, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil && !bytes.Contains(content, []byte(contains)) {
				return fmt.Errorf("%.200q does not contain %q", content, contains)
			}
			return err
		})
	}
	b.click(".drawing .tools button:nth-of-type(1)")
	saved("forest.svg", ">team-a<")
	b.click(".drawing .tools button:nth-of-type(2)")
	saved("forest.png", "PNG")
	b.visit("/ns/service-1/access?verb=delete&resource=pods")
	b.shows(".list", "bob")
	b.click("main > div .tools button")
	saved("access-service-1.csv", `"User","bob","ClusterRole/edit","RoleBinding/operators-edit","team-a"`)
	b.visit("/ns/acme/roles.rbac.authorization.k8s.io/pod-reader")
	b.click("[data-yaml] > summary")
	for selector, copied := range map[string]string{".head .copy": "kubectl hns why roles.rbac.authorization.k8s.io/pod-reader -n acme", "[data-yaml] .tools button": "pods/log"} {
		b.do(chromedp.Evaluate("navigator.clipboard.writeText = async text => { window.copied = text }", nil))
		b.click(selector)
		b.until("it copies "+copied, fmt.Sprintf("window.copied?.includes(%q)", copied))
	}
}

// The trees at the left are used with the keyboard.
func TestTreesAtTheLeft(t *testing.T) {
	b := open(t, readOnly, "/quotas")
	b.shows(".trees", "service-1")
	b.do(chromedp.Focus("[aria-label='Children of team-a']", chromedp.ByQuery))
	b.press(" ")
	b.until("a branch is closed", "![...document.querySelectorAll('.trees a')].some(a => a.textContent === 'service-1')")
	b.press(" ")
	b.shows(".trees a", "service-1")
	b.do(chromedp.Focus(".trees a[href='/ns/service-1']", chromedp.ByQuery))
	b.press("\r")
	b.shows("h1", "service-1")
	b.shows(".trees a[aria-current=page]", "service-1")
}
