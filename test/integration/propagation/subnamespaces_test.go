package propagation

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const rbac, ours = "/apis/rbac.authorization.k8s.io/v1", "/apis/hnc.x-k8s.io/v1beta1"

func TestNewSubnamespaceIsCompleteWhenItIsReady(t *testing.T) {
	c := newCluster(t)
	c.namespaces("acme")
	c.role("acme", "dev", "get")
	c.role("acme", "ops", "get")
	c.start()
	c.eventuallyLabel("acme", hnc.TreeLabel(c.full("acme")), "0")
	c.written()

	c.subnamespaces("acme", "team")
	c.eventuallyReady("acme", "team")
	c.wantObjects("roles", "team", "dev=get<acme ops=get<acme")
	spec, _, _ := unstructured.NestedMap(c.get("hierarchies", "team", hnc.Singleton).Object, "spec")
	if got := c.short(fmt.Sprint(spec)); got != "map[parent:acme]" {
		t.Errorf("the spec of its hierarchy is %s", got)
	}
	// The parent is protected before there is anything to protect, and the Subnamespace is ready when there is nothing
	// left to do.
	writes := c.written()
	last := -1
	for _, want := range []string{
		"PATCH /api/v1/namespaces/acme", "POST /api/v1/namespaces", "POST " + rbac + "/namespaces/team/roles",
		"PATCH " + ours + "/namespaces/acme/subnamespaces/team/status",
	} {
		i := slices.Index(writes, want)
		if i <= last {
			t.Errorf("%q is not in order in\n%s", want, strings.Join(writes, "\n"))
		}
		last = i
	}
	roles := 0
	for _, w := range writes {
		if w == "POST "+rbac+"/namespaces/team/roles" {
			roles++
		}
	}
	if roles != 2 {
		t.Errorf("two roles took %d writes", roles)
	}
}

func TestNoSubnamespaceIsCreatedBeforeItsParentIsProtected(t *testing.T) {
	c := newCluster(t)
	c.namespaces("acme")
	var left atomic.Int32
	left.Store(6)
	c.setRefuse(func(r *http.Request) *metav1.Status {
		switch {
		case r.Method == http.MethodPatch && r.URL.Path == "/api/v1/namespaces/"+c.full("acme") && left.Load() > 0:
			left.Add(-1)
			return failure(http.StatusInternalServerError, metav1.StatusReasonInternalError, "failed")
		case r.Method == http.MethodPost && r.URL.Path == "/api/v1/namespaces" && left.Load() > 0:
			t.Error("created before the parent was labeled")
		}
		return nil
	})
	c.subnamespaces("acme", "team")
	c.start()
	c.eventuallyReady("acme", "team")
	if n := left.Load(); n > 0 {
		t.Errorf("%d patches of the parent were not tried", n)
	}
}

func TestNewSubnamespaceGetsWhatItsTreeSelects(t *testing.T) {
	c := newCluster(t)
	c.namespaces("root")
	c.put("widgets", "root", "in", "1", hnc.AnnotationTreeSelect+"="+c.full("team"))
	c.put("widgets", "root", "out", "1", hnc.AnnotationTreeSelect+"=!"+c.full("team"))
	c.configure("widgets.example.com AllowPropagate")
	c.start()
	c.eventuallyConfigured("widgets", "AllowPropagate 0/2")
	c.subnamespaces("root", "team")
	c.eventuallyReady("root", "team")
	c.wantObjects("widgets", "team", "in=1<root")
}
