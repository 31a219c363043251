package cli

import (
	"bytes"
	"context"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/diagnosis"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagatorroles"
)

// checkPermissions looks at the permissions of the servers, and of users by the built-in roles.
func (o *doctorOptions) checkPermissions(ctx context.Context, configuration *v1beta1.HNCConfiguration) {
	var kinds []string
	if configuration != nil {
		var err error
		if kinds, err = o.missingPermissions(ctx, hnc.PropagatorName, diagnosis.KindPermissions(configuration)); o.failed("permissions of hns-propagator", err) {
			return
		}
	}
	for _, server := range []struct {
		name          string
		permissions   []diagnosis.Permission
		missingOfKind []string
	}{{hnc.APIServerName, diagnosis.APIServerPermissions, nil}, {hnc.PropagatorName, diagnosis.PropagatorPermissions, kinds}} {
		missing, err := o.missingPermissions(ctx, server.name, server.permissions)
		if !o.failed("permissions of "+server.name, err) {
			o.add(diagnosis.Permissions(server.name, missing, server.missingOfKind)...)
		}
	}
	for _, name := range []string{"view", "edit", "admin"} {
		role, err := o.clients.Kube.RbacV1().ClusterRoles().Get(ctx, name, metav1.GetOptions{})
		if !o.failed("clusterrole "+name, err) {
			o.add(diagnosis.Aggregation(name, role.Rules))
		}
	}
}

// missingPermissions returns the permissions that a server's ServiceAccount does not have.
func (o *doctorOptions) missingPermissions(ctx context.Context, server string, permissions []diagnosis.Permission) ([]string, error) {
	var missing []string
	for _, permission := range permissions {
		resource, subresource, _ := strings.Cut(permission.Resource, "/")
		for _, verb := range permission.Verbs {
			allowed, err := propagatorroles.Allowed(ctx, o.clients.Kube, server, authorizationv1.ResourceAttributes{
				Group: permission.Group, Resource: resource, Subresource: subresource, Namespace: permission.Namespace, Name: permission.Name, Verb: verb,
			})
			if err != nil {
				return nil, err
			}
			if !allowed {
				missing = append(missing, strings.TrimSuffix(verb+" "+permission.Resource+"."+permission.Group, "."))
			}
		}
	}
	return missing, nil
}

// labelTime is how long the propagator has to label namespaces before doctor reports it.
const labelTime = 3 * time.Second

// checkLag compares the labels of the namespaces with their hierarchies. Where they differ, it looks again.
func (o *doctorOptions) checkLag(ctx context.Context) {
	first, ok := o.behind(ctx)
	if !ok {
		return
	}
	var second []string
	if len(first) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(labelTime):
		}
		if second, ok = o.behind(ctx); !ok {
			return
		}
	}
	o.add(diagnosis.Lag(first, second))
}

// behind returns the namespaces whose labels do not show their parents, and false if that cannot be found out.
func (o *doctorOptions) behind(ctx context.Context) ([]string, bool) {
	hierarchies, err := o.clients.Hierarchy.HncV1beta1().Hierarchies(corev1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if o.failed("hierarchies", err) || err != nil {
		return nil, false
	}
	namespaces, err := o.clients.namespaces.List(ctx, metav1.ListOptions{})
	if o.failed("namespaces", err) {
		return nil, false
	}
	return diagnosis.Behind(namespaces.Items, hierarchies.Items), true
}

// checkEtcd looks at the size of Kubernetes' etcd, which holds the copies.
func (o *doctorOptions) checkEtcd(ctx context.Context) {
	const subject = "etcd of kube-apiserver"
	metrics, err := o.clients.Kube.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if o.failed(subject, err) {
		return
	}
	finding, err := diagnosis.EtcdSize("kube-apiserver", bytes.NewReader(metrics))
	if !o.failed(subject, err) {
		o.add(finding)
	}
}

// checkCertificate looks at the certificate of a server.
func (o *doctorOptions) checkCertificate(ctx context.Context, server string, bundle []byte, now time.Time) {
	name := server + "-cert"
	secret, err := o.clients.Kube.CoreV1().Secrets(hnc.SystemNamespace).Get(ctx, name, metav1.GetOptions{})
	if o.failed("secret "+name, err) {
		return
	}
	if err != nil {
		secret = nil
	}
	o.add(diagnosis.Certificate(server, secret, isDeployed(ctx, o.clients.Kube, server), bundle, now))
}

// isDeployed reports whether a server runs as a Deployment, as far as that can be read.
func isDeployed(ctx context.Context, kube kubernetes.Interface, server string) bool {
	_, err := kube.AppsV1().Deployments(hnc.SystemNamespace).Get(ctx, server, metav1.GetOptions{})
	return !apierrors.IsNotFound(err)
}
