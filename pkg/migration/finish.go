package migration

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/admissionpolicy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// propagateTimeout limits how long hns-propagator may take to start and to label all namespaces.
const propagateTimeout = 5 * time.Minute

// maxNamed is how many missing policies are named.
const maxNamed = 5

// errPoliciesMissing ends the first run of a migration: the policies would reject the writes of HNC, so that they are
// installed only now.
var errPoliciesMissing = errors.New("admission policies are not installed yet")

// finish allows changes again when what protects hierarchies from now on is there: the admission policies, and the
// labels that they read.
func (m *Migration) finish(ctx context.Context) error {
	if err := m.policiesInstalled(ctx); err != nil {
		return err
	}
	if err := m.awaitPropagator(ctx); err != nil {
		return err
	}
	// Its APIService leads to hns-apiserver.
	if err := m.scale(ctx, listDeployment, 0); err != nil {
		return err
	}
	if err := m.state.hold(ctx); err != nil {
		return err
	}
	if err := m.unfreeze(ctx); err != nil {
		return err
	}
	return printLeftovers(ctx, m)
}

// policiesInstalled returns an error that names the missing admission policies. A policy without a binding has no
// effect, so it is missing, too.
func (m *Migration) policiesInstalled(ctx context.Context) error {
	client := m.kube.AdmissionregistrationV1()
	validating, err := client.ValidatingAdmissionPolicyBindings().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	mutating, err := client.MutatingAdmissionPolicyBindings().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	missing := sets.New[string]()
	for _, name := range admissionpolicy.Validating() {
		missing.Insert("validatingadmissionpolicy " + name)
	}
	for _, name := range admissionpolicy.Mutating() {
		missing.Insert("mutatingadmissionpolicy " + name)
	}
	for i := range validating.Items {
		missing.Delete("validatingadmissionpolicy " + validating.Items[i].Name)
	}
	for i := range mutating.Items {
		missing.Delete("mutatingadmissionpolicy " + mutating.Items[i].Name)
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: %s", errPoliciesMissing, names.List(sets.List(missing), maxNamed, ", "))
	}
	return nil
}

// awaitPropagator returns when hns-propagator has started, and each parent of a sub-namespace has the label that
// protects it from deletion.
func (m *Migration) awaitPropagator(ctx context.Context) error {
	var pending string
	err := wait.PollUntilContextTimeout(ctx, time.Second, propagateTimeout, true, func(ctx context.Context) (bool, error) {
		system, err := m.kube.CoreV1().Namespaces().Get(ctx, hnc.SystemNamespace, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		if system.Annotations[hnc.AnnotationStore] == "" {
			pending = "hns-propagator has not started to propagate; look at its log"
			return false, nil
		}
		subnamespaces, err := m.hierarchy.HncV1beta1().Subnamespaces("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		labeled, err := m.kube.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: hnc.LabelHasSubnamespaces + "=true"})
		if err != nil {
			return false, err
		}
		protected := map[string]bool{}
		for _, ns := range labeled.Items {
			protected[ns.Name] = true
		}
		for _, s := range subnamespaces.Items {
			if s.Status.State != "Conflict" && !protected[s.Namespace] {
				pending = fmt.Sprintf("namespace %s is not labeled %s yet", s.Namespace, hnc.LabelHasSubnamespaces)
				return false, nil
			}
		}
		return true, nil
	})
	return waitError(ctx, err, "after %s: %s", propagateTimeout, pending)
}
