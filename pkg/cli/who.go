package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/admins"
)

type whoOptions struct {
	genericiooptions.IOStreams
	factory *factory

	namespace string
	output    outputFlag
}

func newWhoCommand(f *factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &whoOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "who NAMESPACE",
		Short: "Show the admins of a namespace, and the bindings at it or an ancestor that make them admins",
		Long: `Show the admins of a namespace, and the bindings at it or an ancestor that make them admins.

Being an admin of a namespace means being allowed to update hierarchies in it, as moving namespaces requires.`,
		Example:           "  kubectl hns who service-1",
		Args:              namespaceArgs(1, 1),
		ValidArgsFunction: completeArgs(1, f.completeNamespaces),
		RunE:              runOptions(o),
	}
	o.output.addFlag(cmd)
	return cmd
}

func (o *whoOptions) complete(_ *cobra.Command, args []string) error {
	o.namespace = args[0]
	return nil
}

func (o *whoOptions) validate() error { return o.output.validate() }

func (o *whoOptions) run(ctx context.Context) error {
	c, err := o.factory.clients()
	if err != nil {
		return err
	}
	if _, err := c.namespaces.Get(ctx, o.namespace, metav1.GetOptions{}); err != nil {
		return err
	}
	rights, err := o.readRights(ctx, c)
	if err != nil {
		return err
	}
	grants, unread := rights.Find()
	if len(unread) > 0 {
		warnf(o.ErrOut, "%s: missing right: list clusterroles.%s in the whole cluster", describeUnread(unread), rbacv1.GroupName)
	}
	printed, err := o.output.print(o.Out, map[string]any{"namespace": o.namespace, "admins": grants}, func() []string {
		names := make([]string, 0, len(grants))
		for _, g := range grants {
			names = append(names, strings.ToLower(g.Subject.Kind)+"/"+subjectName(g.Subject))
		}
		return names
	})
	if printed {
		return err
	}
	if len(grants) == 0 {
		_, err := fmt.Fprintf(o.ErrOut, "Nobody is known to be admin of %s.\n", o.namespace)
		return err
	}
	return printGrants(o.Out, grants)
}

// describeUnread describes what is not known because ClusterRoles could not be read.
func describeUnread(clusterRoles []string) string {
	var parts []string
	known := slices.DeleteFunc(slices.Clone(clusterRoles), func(name string) bool { return !admins.Installed(name) })
	if len(known) > 0 {
		parts = append(parts, fmt.Sprintf("ClusterRoles %s are assumed to be as Kubernetes installs them", strings.Join(known, ", ")))
	}
	unknown := slices.DeleteFunc(slices.Clone(clusterRoles), admins.Installed)
	if len(unknown) > 0 {
		parts = append(parts, fmt.Sprintf("whether ClusterRoles %s make their subjects admins is not known", strings.Join(unknown, ", ")))
	}
	return strings.Join(parts, ", and ")
}

// readRights reads the RBAC objects that apply to the namespace. Those of the whole cluster are left out if the requester may not read them.
func (o *whoOptions) readRights(ctx context.Context, c *clients) (*admins.Rights, error) {
	rbac := c.kube.RbacV1()
	all := metav1.ListOptions{}
	bindings, err := rbac.RoleBindings(o.namespace).List(ctx, all)
	if err != nil {
		return nil, err
	}
	roles, err := rbac.Roles(o.namespace).List(ctx, all)
	if err != nil {
		return nil, err
	}
	rights := &admins.Rights{Bindings: bindings.Items, Roles: roles.Items, ClusterRoles: map[string]rbacv1.ClusterRole{}}
	clusterBindings, err := rbac.ClusterRoleBindings().List(ctx, all)
	switch {
	case apierrors.IsForbidden(err):
		warnf(o.ErrOut, "admins of the whole cluster are left out: missing right: %s", missingRight(err))
	case err != nil:
		return nil, err
	default:
		rights.ClusterRoleBindings = clusterBindings.Items
	}
	clusterRoles, err := rbac.ClusterRoles().List(ctx, all)
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}
	if err == nil {
		rights.AllClusterRoles = true
		for i := range clusterRoles.Items {
			rights.ClusterRoles[clusterRoles.Items[i].Name] = clusterRoles.Items[i]
		}
	}
	return rights, nil
}

func printGrants(w io.Writer, grants []admins.Grant) error {
	table := printers.GetNewTabWriter(w)
	_, _ = fmt.Fprintln(table, "KIND\tADMIN\tROLE\tBINDING\tAT")
	for _, g := range grants {
		at := g.At
		if at == "" {
			at = "(cluster)"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", g.Subject.Kind, subjectName(g.Subject), g.Role, g.Binding, at)
	}
	return table.Flush()
}

// subjectName returns the name of a subject, for a ServiceAccount with its namespace.
func subjectName(s rbacv1.Subject) string {
	if s.Kind == rbacv1.ServiceAccountKind {
		return s.Namespace + "/" + s.Name
	}
	return s.Name
}
