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
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/admins"
)

func newWho(e *Environment) *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "who NAMESPACE",
		Short: "Show who is admin of a namespace, and through which binding at which ancestor",
		Long: `Show who is admin of a namespace, and through which binding at which ancestor.

Being admin of a namespace means: being allowed to update hierarchies in it. That is what moves of namespaces take.`,
		Example:           "  kubectl hns who service-1",
		Args:              namespaceArgs(1, 1),
		ValidArgsFunction: completeArgs(1, e.completeNamespaces),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return e.who(cmd.Context(), args[0], &out)
		},
	}
	out.addFlag(e, cmd)
	return cmd
}

func (e *Environment) who(ctx context.Context, namespace string, out *output) error {
	c, err := e.connect()
	if err != nil {
		return err
	}
	if _, err := c.namespaces.Get(ctx, namespace, metav1.GetOptions{}); err != nil {
		return err
	}
	rights, err := e.readRights(ctx, c, namespace)
	if err != nil {
		return err
	}
	grants, unread := rights.Find()
	if len(unread) > 0 {
		e.warn("%s: missing right: list clusterroles.%s in the whole cluster", sayUnread(unread), rbacv1.GroupName)
	}
	printed, err := out.print(e, map[string]any{"namespace": namespace, "admins": grants}, func() []string {
		names := make([]string, 0, len(grants))
		for _, g := range grants {
			names = append(names, strings.ToLower(g.Subject.Kind)+"/"+subject(g.Subject))
		}
		return names
	})
	if printed {
		return err
	}
	if len(grants) == 0 {
		_, err := fmt.Fprintf(e.ErrOut, "Nobody is known to be admin of %s.\n", namespace)
		return err
	}
	return printGrants(e.Out, grants)
}

func sayUnread(clusterRoles []string) string {
	var said []string
	known := slices.DeleteFunc(slices.Clone(clusterRoles), func(name string) bool { return !admins.Installed(name) })
	if len(known) > 0 {
		said = append(said, fmt.Sprintf("ClusterRoles %s are taken to be as Kubernetes installs them", strings.Join(known, ", ")))
	}
	unknown := slices.DeleteFunc(slices.Clone(clusterRoles), admins.Installed)
	if len(unknown) > 0 {
		said = append(said, fmt.Sprintf("whether ClusterRoles %s make somebody admin is not known", strings.Join(unknown, ", ")))
	}
	return strings.Join(said, ", and ")
}

// readRights reads what RBAC says about a namespace. What concerns the whole cluster may be read by few, and is left out then.
func (e *Environment) readRights(ctx context.Context, c *cluster, namespace string) (*admins.Rights, error) {
	rbac := c.kube.RbacV1()
	all := metav1.ListOptions{}
	bindings, err := rbac.RoleBindings(namespace).List(ctx, all)
	if err != nil {
		return nil, err
	}
	roles, err := rbac.Roles(namespace).List(ctx, all)
	if err != nil {
		return nil, err
	}
	rights := &admins.Rights{Bindings: bindings.Items, Roles: roles.Items, ClusterRoles: map[string]rbacv1.ClusterRole{}}
	clusterBindings, err := rbac.ClusterRoleBindings().List(ctx, all)
	switch {
	case apierrors.IsForbidden(err):
		e.warn("who is admin of the whole cluster is left out: missing right: %s", missingRight(err))
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
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", g.Subject.Kind, subject(g.Subject), g.Role, g.Binding, at)
	}
	return table.Flush()
}

// subject names a subject; a ServiceAccount with its namespace.
func subject(s rbacv1.Subject) string {
	if s.Kind == rbacv1.ServiceAccountKind {
		return s.Namespace + "/" + s.Name
	}
	return s.Name
}
