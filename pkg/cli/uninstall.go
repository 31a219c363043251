package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/diagnosis"
	released "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/migration/release"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// podTimeout limits how long the pods of hns-sync, and those of hns-propagator, may take to stop.
const podTimeout = 2 * time.Minute

// removal is a step of the removal: objects that can go at the same time.
type removal struct {
	resources []schema.GroupVersionResource
	// name restricts the step to one object.
	name string
	// pods is the name of the server whose pods must be gone before the next step.
	pods string
	// grants removes the grants of TenantViews after the step.
	grants bool
}

// removals are in an order in which nothing fails or blocks in between. A namespace that is being deleted waits for an
// APIService without a server, so those go before their server, and the webhook of quotas, which rejects what it cannot
// count, before those. The policies protect copies until nothing writes copies any more, and the grants of TenantViews.
var removals = []removal{
	{resources: []schema.GroupVersionResource{{Group: "apps", Version: "v1", Resource: "deployments"}}, name: hnc.SyncName, pods: hnc.SyncName},
	{resources: []schema.GroupVersionResource{{Group: "apps", Version: "v1", Resource: "deployments"}}, name: hnc.PropagatorName, pods: hnc.PropagatorName},
	{resources: []schema.GroupVersionResource{{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"}}},
	{resources: []schema.GroupVersionResource{hnc.APIServiceResource}},
	{resources: []schema.GroupVersionResource{
		{Group: "apps", Version: "v1", Resource: "deployments"},
		{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
		{Version: "v1", Resource: "services"},
	}},
	{resources: []schema.GroupVersionResource{
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingadmissionpolicybindings"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingadmissionpolicies"},
	}, grants: true},
	{resources: []schema.GroupVersionResource{
		{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Resource: "flowschemas"},
		{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Resource: "prioritylevelconfigurations"},
		{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
		{Group: "cert-manager.io", Version: "v1", Resource: "certificates"},
		{Group: "cert-manager.io", Version: "v1", Resource: "issuers"},
		{Version: "v1", Resource: "secrets"},
		{Version: "v1", Resource: "serviceaccounts"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
	}},
}

type uninstallOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	yes    bool
	dryRun DryRunFlag
}

func newUninstallCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &uninstallOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Uninstall the servers; namespaces and copied objects are kept",
		Long: "Removes the servers, the API, the policies and the roles from the cluster, in an order in which nothing blocks.\n" +
			"Namespaces, copies and labels stay as they are, and so do the namespace hns-system and the volume with the hierarchies:\n" +
			"after another installation the trees are as before. Our finalizer is removed from all namespaces.",
		Example: "  kubectl hns uninstall --dry-run=client    # what would be removed, and what stays\n  kubectl hns uninstall --yes",
		Args:    cobra.NoArgs,
		RunE:    RunOptions(o),
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Do not ask")
	o.dryRun.AddFlag(cmd.Flags())
	return cmd
}

// noMigration returns an error while a migration from HNC is under way: its freeze would stay, and HNC, if it is
// stopped.
func noMigration(ctx context.Context, c *Clients) error {
	_, err := c.Kube.CoreV1().ConfigMaps(hnc.SystemNamespace).Get(ctx, hnc.Migration, metav1.GetOptions{})
	if err == nil {
		return errors.New("a migration from HNC is under way, and hierarchies would stay frozen; complete it by kubectl hns migrate, or undo it by kubectl hns migrate rollback, and repeat this command")
	}
	if !apierrors.IsNotFound(err) {
		return err
	}
	frozen, err := frozen(ctx, c)
	if frozen {
		return errors.New(diagnosis.Frozen.Text + ", and would stay frozen; " + diagnosis.Frozen.Hint + ", and repeat this command")
	}
	return err
}

// frozen reports whether a policy by which migrations freeze hierarchies and copies is in force.
func frozen(ctx context.Context, c *Clients) (bool, error) {
	for _, name := range []string{hnc.MigrationPolicy, hnc.MigrationCopiesPolicy} {
		if _, err := c.Kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return err == nil, err
		}
	}
	return false, nil
}

func (o *uninstallOptions) Complete(*cobra.Command, []string) error { return nil }
func (o *uninstallOptions) Validate() error                         { return nil }

func (o *uninstallOptions) Run(ctx context.Context) error {
	// Copies of all kinds are counted, and requests for deprecated kinds return warnings.
	c, err := o.factory.quiet().Clients()
	if err != nil {
		return err
	}
	found, release, err := installedObjects(ctx, c)
	if err != nil {
		return err
	}
	if found == 0 {
		_, err := fmt.Fprintln(o.Out, "Nothing is installed: no object has the label "+hnc.SelectorPartOf)
		return err
	}
	if err := noMigration(ctx, c); err != nil {
		return err
	}
	stays, err := o.remaining(ctx, c)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(o.Out, "%d objects of the installation will be removed.\nThis stays as it is:\n  %s\n", found, strings.Join(stays, "\n  ")); err != nil {
		return err
	}
	if !o.yes && !o.dryRun.Enabled() {
		if err := Confirm(ctx, o.IOStreams, "Continue? (yes/no) ", errNotConfirmed); err != nil {
			return err
		}
	}
	for _, step := range removals {
		err := o.remove(ctx, c, step)
		if err == nil && step.grants {
			err = o.removeGrants(ctx, c)
		}
		if err == nil && step.pods == hnc.PropagatorName && !o.dryRun.Enabled() {
			err = released.Namespaces(ctx, c.Kube, "kubectl-hns-uninstall")
		}
		if err != nil {
			return fmt.Errorf("%w\nThe removal is incomplete; repeat the command to continue", err)
		}
	}
	if release != "" {
		_, err = fmt.Fprintf(o.Out, "Helm still has a record of the release: helm uninstall %s --namespace %s\n", release, hnc.SystemNamespace)
	}
	return err
}

// remove deletes the objects of a step. Objects that are gone already are no error, so a removal that was interrupted
// can be repeated.
func (o *uninstallOptions) remove(ctx context.Context, c *Clients, step removal) error {
	for _, resource := range step.resources {
		objects, err := list(ctx, c, resource, step.name)
		if err != nil {
			return err
		}
		for _, object := range objects {
			if !o.dryRun.Client() {
				err := c.metadata.Resource(resource).Namespace(object.Namespace).Delete(ctx, object.Name, metav1.DeleteOptions{
					DryRun: o.dryRun.options(), Preconditions: &metav1.Preconditions{UID: &object.UID},
				})
				if err != nil && !apierrors.IsNotFound(err) {
					return err
				}
			}
			if _, err := io.WriteString(o.Out, names.Line("%s/%s deleted%s", resource.GroupResource(), object.Name, o.dryRun.Suffix())); err != nil {
				return err
			}
		}
	}
	if step.pods == "" || o.dryRun.Enabled() {
		return nil
	}
	wait := &waitFlags{timeout: podTimeout}
	return wait.poll(ctx, o.ErrOut, func(ctx context.Context) (string, error) {
		pods, err := c.Kube.CoreV1().Pods(hnc.SystemNamespace).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + step.pods})
		if err != nil || len(pods.Items) == 0 {
			return "", err
		}
		return fmt.Sprintf("%d pods of %s still run", len(pods.Items), step.pods), nil
	})
}

// remaining describes what stays.
func (o *uninstallOptions) remaining(ctx context.Context, c *Clients) ([]string, error) {
	namespaces, err := countAll(ctx, c, NamespaceResource, "")
	if err != nil {
		return nil, err
	}
	trees, err := countAll(ctx, c, NamespaceResource, hnc.LabelInTree)
	if err != nil {
		return nil, err
	}
	stays := []string{fmt.Sprintf("%d namespaces, %d of them in trees, with their labels and annotations", namespaces, trees)}
	for _, list := range []func(context.Context, *Clients) ([]string, error){o.copies, quotaObjects, appliedObjects} {
		found, err := list(ctx, c)
		if err != nil {
			return nil, err
		}
		stays = append(stays, found...)
	}
	definitions, err := countAll(ctx, c, hnc.CRDResource, hnc.LabelViewRoot)
	if err != nil {
		return nil, err
	}
	if definitions > 0 {
		stays = append(stays, fmt.Sprintf("%d CustomResourceDefinitions of views, with their custom resources; they have the label %s", definitions, hnc.LabelViewRoot))
	}
	volumes, err := c.Kube.CoreV1().PersistentVolumeClaims(hnc.SystemNamespace).List(ctx, metav1.ListOptions{LabelSelector: hnc.SelectorPartOf})
	if err != nil {
		return nil, err
	}
	for _, volume := range volumes.Items {
		stays = append(stays, fmt.Sprintf("persistentvolumeclaims/%s in %s: the hierarchies", volume.Name, volume.Namespace))
	}
	granted, err := c.Kube.RbacV1().ClusterRoles().List(ctx, metav1.ListOptions{LabelSelector: hnc.LabelAggregateToPropagator + "=true," + hnc.LabelPartOf + "!=" + hnc.PartOf})
	if err != nil {
		return nil, err
	}
	for _, role := range granted.Items {
		stays = append(stays, fmt.Sprintf("clusterroles/%s, which grants permissions to hns-propagator only", role.Name))
	}
	return append(stays, "the namespace "+hnc.SystemNamespace), nil
}
