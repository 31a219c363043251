package view

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// operator makes a Deployment for each ConfigMap that is labeled as wanted, and owns it. It is an ordinary one: it
// knows nothing of views.
type operator struct {
	client.Client
	// id is what the Deployments say of who has made them.
	id string
}

func (o *operator) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var wanted corev1.ConfigMap
	if err := o.Get(ctx, request.NamespacedName, &wanted); err != nil || wanted.Labels["wanted"] == "" {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: request.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, o, d, func() error {
		labels := map[string]string{"app": request.Name}
		d.Annotations = map[string]string{"example.com/made-by": o.id}
		d.Spec.Replicas = ptr.To[int32](0)
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		d.Spec.Template.Labels = labels
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: wanted.Data["image"]}}
		return controllerutil.SetControllerReference(&wanted, d, o.Scheme())
	})
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	return ctrl.Result{}, err
}

// runOperator runs an operator with leader election in the namespace default, until the returned function is called.
func runOperator(t *testing.T, at *rest.Config, id string) (stop func()) {
	t.Helper()
	manager, err := ctrl.NewManager(at, ctrl.Options{
		Scheme: clientgoscheme.Scheme, Metrics: server.Options{BindAddress: "0"}, Logger: klog.NewKlogr().V(9),
		LeaderElection: true, LeaderElectionID: "operator", LeaderElectionNamespace: metav1.NamespaceDefault, LeaderElectionReleaseOnCancel: true,
		LeaseDuration: ptr.To(30 * time.Second), RenewDeadline: ptr.To(20 * time.Second), RetryPeriod: ptr.To(time.Second),
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	must(t, "manager", err)
	must(t, "controller", ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(&appsv1.Deployment{}).
		Complete(&operator{manager.GetClient(), id}))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("operator %s: %v", id, err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// Two tenants run the same operator in their views, with leases, namespaces and objects of the same names. It writes
// built-in kinds in protobuf, and follows all namespaces.
func TestAnOperatorRunsInEachView(t *testing.T) {
	var tenants []*tenant
	for _, root := range []string{"operated", "operated-too"} {
		tn := newUser(t, root)
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "dev"}}
		_, err := tn.view.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{})
		must(t, "namespace", err)
		tenants = append(tenants, tn)
	}
	stop := runOperator(t, tenants[0].view.Config, "first of "+tenants[0].root)
	for _, tn := range tenants[1:] {
		runOperator(t, tn.view.Config, "first of "+tn.root)
	}
	want := func(tn *tenant, name, id string) {
		t.Helper()
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"wanted": "yes"}}, Data: map[string]string{"image": tn.root}}
		cm, err := tn.view.CoreV1().ConfigMaps("dev").Create(t.Context(), cm, metav1.CreateOptions{})
		must(t, "config map", err)
		suite.Eventually(t, "the deployment of "+name, func() error {
			d, err := admin.AppsV1().Deployments(tn.root+"-dev").Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			got := fmt.Sprint(d.Annotations["example.com/made-by"], d.Spec.Template.Spec.Containers[0].Image, metav1.GetControllerOf(d).UID)
			if wanted := fmt.Sprint(id, tn.root, cm.UID); got != wanted {
				return fmt.Errorf("got %s, want %s", got, wanted)
			}
			return nil
		})
	}
	leader := func(tn *tenant) string {
		lease := &coordinationv1.Lease{}
		suite.Must(t, "lease", func() (err error) {
			lease, err = tn.view.CoordinationV1().Leases(metav1.NamespaceDefault).Get(t.Context(), "operator", metav1.GetOptions{})
			return err
		})
		return ptr.Deref(lease.Spec.HolderIdentity, "")
	}
	for _, tn := range tenants {
		want(tn, "app", "first of "+tn.root)
	}
	if a, b := leader(tenants[0]), leader(tenants[1]); a == "" || b == "" || a == b {
		t.Errorf("the leaders are %q and %q", a, b)
	}

	before := leader(tenants[0])
	runOperator(t, tenants[0].view.Config, "second of "+tenants[0].root)
	want(tenants[0], "while-the-first-leads", "first of "+tenants[0].root)
	stop()
	want(tenants[0], "when-it-has-stopped", "second of "+tenants[0].root)
	if after := leader(tenants[0]); after == before {
		t.Errorf("the leader is still %q", after)
	}
}
