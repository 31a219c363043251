package subnamespace

import (
	"context"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/namespace"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
)

// slowClient holds back the first patch of a namespace. It numbers the versions, as a server does. The results of the
// first reads and patches may get lost.
type slowClient struct {
	kubernetes.Interface
	before                 func()
	patches                int
	lostReads, lostPatches int
}

func (c *slowClient) CoreV1() typedcorev1.CoreV1Interface {
	return slowCore{c.Interface.CoreV1(), c}
}

type slowCore struct {
	typedcorev1.CoreV1Interface
	client *slowClient
}

func (c slowCore) Namespaces() typedcorev1.NamespaceInterface {
	return slowNamespaces{c.CoreV1Interface.Namespaces(), c.client}
}

type slowNamespaces struct {
	typedcorev1.NamespaceInterface
	client *slowClient
}

func (n slowNamespaces) Patch(ctx context.Context, name string, t types.PatchType, data []byte, o metav1.PatchOptions, subresources ...string) (*corev1.Namespace, error) {
	if n.client.before != nil {
		before := n.client.before
		n.client.before = nil
		before()
	}
	ns, err := n.NamespaceInterface.Patch(ctx, name, t, data, o, subresources...)
	if err == nil {
		n.client.patches++
		ns.ResourceVersion = strconv.Itoa(100 + n.client.patches)
	}
	if n.client.lostPatches > 0 {
		n.client.lostPatches--
		return nil, context.DeadlineExceeded
	}
	return ns, err
}

func (n slowNamespaces) Get(ctx context.Context, name string, o metav1.GetOptions) (*corev1.Namespace, error) {
	if n.client.lostReads > 0 {
		n.client.lostReads--
		return nil, context.DeadlineExceeded
	}
	ns, err := n.NamespaceInterface.Get(ctx, name, o)
	if err == nil {
		ns.ResourceVersion = strconv.Itoa(100 + n.client.patches)
	}
	return ns, err
}

// newProtected returns the controllers of a propagator, whose cache contains the namespace p that is still protected
// for the sake of an earlier child.
func newProtected() (*namespace.Controller, *Controller, *slowClient) {
	p := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "p", UID: "uid-p", ResourceVersion: "10", Finalizers: []string{hnc.FinalizerSubnamespaces}, Labels: map[string]string{hnc.LabelHasSubnamespaces: "true"},
	}}
	client := &slowClient{Interface: fake.NewClientset(p)}
	d := controller.Dependencies{
		Cache: cache.New(cache.Config{Managed: managedkeys.Default()}), Kubernetes: client,
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false),
	}
	d.Cache.ObserveNamespace(p)
	namespaces := namespace.New(d, nil)
	return namespaces, New(d, Controllers{Namespaces: namespaces, Copies: copies.New(d, copies.Config{})}, false), client
}

// request enters the Subnamespace c of p.
func request(c *Controller) {
	c.Cache.ObserveSubnamespace(&v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Namespace: "p", Name: "c", UID: "s", ResourceVersion: "11"}})
}

func wantProtected(t *testing.T, client *slowClient) {
	t.Helper()
	live, err := client.CoreV1().Namespaces().Get(t.Context(), "p", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if live.Labels[hnc.LabelHasSubnamespaces] != "true" || len(live.Finalizers) != 1 {
		t.Errorf("when the child is created, its parent has %v, %v", live.Labels, live.Finalizers)
	}
}

// A child is requested while the request is in flight that removes what protected the parent of an earlier one.
func TestAParentIsProtectedBeforeItsChildIsCreated(t *testing.T) {
	namespaces, c, client := newProtected()
	decided := make(chan error, 1)
	client.before = func() {
		request(c)
		done := make(chan struct{})
		go func() {
			plan, err := c.protectParent(t.Context(), tree.Key{Parent: "p", Name: "c"})
			if err == nil && plan.action != createNamespace {
				t.Errorf("the plan is %s", plan.action)
			}
			decided <- err
			close(done)
		}()
		// Long enough for a decision that does not wait.
		select {
		case <-done:
		case <-time.After(200 * time.Millisecond):
		}
	}
	if err := namespaces.Sync(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	if err := <-decided; err != nil {
		t.Fatal(err)
	}
	wantProtected(t, client)
}

// The response to the request that removed the protection gets lost. Until the parent can be read, no child is created.
func TestAParentIsProtectedAfterAPatchOfUnknownResult(t *testing.T) {
	namespaces, c, client := newProtected()
	client.lostPatches, client.lostReads = 1, 1
	if err := namespaces.Sync(t.Context(), "p"); err == nil {
		t.Fatal("the patch succeeded")
	}
	request(c)
	key := tree.Key{Parent: "p", Name: "c"}
	if plan, err := c.protectParent(t.Context(), key); err == nil {
		t.Fatalf("the plan is %s, although the parent cannot be read", plan.action)
	}
	if plan, err := c.protectParent(t.Context(), key); err != nil || plan.action != createNamespace {
		t.Fatalf("the plan is %s, %v", plan.action, err)
	}
	wantProtected(t, client)
}
