package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

// state is how much of us there is.
type state int

const (
	// bare is a cluster that has never heard of us.
	bare state = iota
	// down is one with our policies, but without our servers.
	down
	// partly is one with our policies and hns-apiserver, but without the propagator.
	partly
	// up is one with everything.
	up
)

const apiserver, propagator = hnc.APIServerName, hnc.PropagatorName

// up installs us and starts our servers, as far as that is not done, and returns when they are idle.
func (c *cluster) up(ctx context.Context) error {
	if c.state == up {
		return nil
	}
	if err := install(ctx, c); err != nil {
		return err
	}
	port, err := c.start(ctx, apiserver)
	if err != nil {
		return err
	}
	if err := c.cp.Register(ctx, c.installation, port); err != nil {
		return err
	}
	if _, err := c.start(ctx, propagator); err != nil {
		return err
	}
	if err := c.configure(ctx); err != nil {
		return err
	}
	if err := until(ctx, c.options.Timeout, c.protected); err != nil {
		return err
	}
	awaitWatches(ctx, c)
	c.state = up
	return c.metered().idle(ctx)
}

// awaitWatches returns when hns-apiserver serves as many watches as before it was stopped, or after a minute. The
// controller manager notices only twice a minute that an API is back, and then lists all of its objects. With -quick,
// times mean nothing.
func awaitWatches(ctx context.Context, c *cluster) {
	if c.options.Quick {
		return
	}
	err := until(ctx, time.Minute, func(ctx context.Context) error {
		watches, err := c.metered().watches(ctx)
		if err == nil && watches < c.watches {
			err = fmt.Errorf("hns-apiserver serves %v watches, %v before it was stopped", watches, c.watches)
		}
		return err
	})
	if err != nil {
		c.sayf("%v", err)
	}
}

// install installs everything but our servers, as far as that is not done.
func install(ctx context.Context, c *cluster) error {
	if c.state != bare {
		return nil
	}
	installation, err := c.cp.Install(ctx, filepath.Join(c.options.Root, "artifacts/dev"), filepath.Join(c.options.Root, "artifacts/policies"))
	if err != nil {
		return err
	}
	c.installation, c.state = installation, down
	return nil
}

// start runs one of our servers. They share the control plane's etcd: with a built-in one, what etcd needs would count
// as ours.
func (c *cluster) start(ctx context.Context, name string) (port int, err error) {
	s := controlplane.Server{Name: name}
	if name == apiserver {
		s.SharedEtcd = true
		s.Args = []string{"--max-subtree-watches=8000"} // measureViews
	}
	if c.options.Profile != "" {
		s.Args = append(s.Args, "--profiling")
		if name == apiserver {
			s.Args = append(s.Args, "--contention-profiling")
		}
	}
	if name == propagator {
		s.Args = append(s.Args, strings.Fields(c.options.Propagator)...)
	}
	return c.cp.StartServer(ctx, c.installation, s)
}

// configure has the chosen kinds propagated.
func (c *cluster) configure(ctx context.Context) error {
	chosen, err := chosenKinds(c.options.Kinds)
	if err != nil {
		return err
	}
	var wanted []v1beta1.ResourceSpec
	for _, k := range chosen {
		if !k.enforced() {
			wanted = append(wanted, v1beta1.ResourceSpec{Group: k.Group, Resource: k.Resource})
		}
	}
	client := c.hierarchy.HncV1beta1().HNCConfigurations()
	return until(ctx, c.options.Timeout, func(ctx context.Context) error {
		return retry.RetryOnConflict(retry.DefaultRetry, func() error {
			configuration, err := client.Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
			if err != nil {
				return err
			}
			configuration.Spec.Resources = wanted
			_, err = client.Update(ctx, configuration, metav1.UpdateOptions{})
			return err
		})
	})
}

// stopped stops our servers and takes our APIs away: with an API that does not answer, no namespace can be deleted.
func (c *cluster) stopped(ctx context.Context) error {
	if c.state != up && c.state != partly {
		return nil
	}
	if c.state == up {
		var err error
		if c.watches, err = c.metered().watches(ctx); err != nil {
			return err
		}
	}
	if err := errors.Join(c.cp.StopProcess(ctx, propagator), c.cp.StopProcess(ctx, apiserver)); err != nil {
		return err
	}
	services := c.admin.dynamic.Resource(apiServices)
	for _, version := range []string{"v1beta1", "v1alpha3", "v1alpha2"} {
		if err := services.Delete(ctx, version+"."+hnc.GroupName, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	c.state = down
	return nil
}

// uninstalled takes our policies away, too.
func (c *cluster) uninstalled(ctx context.Context) error {
	if err := c.stopped(ctx); err != nil || c.state == bare {
		return err
	}
	admission := c.admin.kube.AdmissionregistrationV1()
	everything, options := metav1.DeleteOptions{}, metav1.ListOptions{}
	err := errors.Join(
		admission.ValidatingAdmissionPolicyBindings().DeleteCollection(ctx, everything, options),
		admission.ValidatingAdmissionPolicies().DeleteCollection(ctx, everything, options),
		admission.MutatingAdmissionPolicyBindings().DeleteCollection(ctx, everything, options),
		admission.MutatingAdmissionPolicies().DeleteCollection(ctx, everything, options),
	)
	if err != nil {
		return err
	}
	c.state = bare
	return until(ctx, c.options.Timeout, func(ctx context.Context) error {
		if err := c.protected(ctx); err == nil {
			return errors.New("our policies are still in effect")
		}
		return nil
	})
}

// protected returns an error unless our policies are in effect: they let nobody else make a copy.
func (c *cluster) protected(ctx context.Context) error {
	probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "bench-probe", Labels: map[string]string{hnc.LabelInheritedFrom: "other"}}}
	_, err := c.kube.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	switch {
	case err == nil:
		return errors.New("no policy refuses a copy")
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err):
		return nil
	}
	return err
}

// until asks until there is no error, and returns the last one when the time is up.
func until(ctx context.Context, timeout time.Duration, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", timeout, err)
		case <-tick.C:
		}
	}
}
