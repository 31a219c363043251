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
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/admins"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

type whoOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	namespace string
	// verb and resource are the permission in question, empty for that of admins.
	verb, resource string
	output         OutputFlag
}

func newWhoCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &whoOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "who NAMESPACE [VERB RESOURCE]",
		Short: "Show who has a permission in a namespace, and the bindings at it or an ancestor that grant it",
		Long: `Show who has a permission in a namespace by RBAC, and the bindings at it or an ancestor that grant it. Without a permission, show the admins.

Being an admin of a namespace means being allowed to update hierarchies in it, as moving namespaces requires. A namespace without a parent can also be
given one by users who may only patch or create hierarchies in it, and are admins of the parent: see kubectl hns who NAMESPACE patch hierarchies.`,
		Example: `  kubectl hns who service-1
  kubectl hns who service-1 delete pods
  kubectl hns who service-1 get pods/log`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 3 {
				return ValidateNamespace(args[0])
			}
			return namespaceArgs(1, 1)(cmd, args)
		},
		ValidArgsFunction: CompleteArgs(1, f.CompleteNamespaces),
		RunE:              RunOptions(o),
	}
	o.output.AddFlag(cmd)
	return cmd
}

func (o *whoOptions) Complete(_ *cobra.Command, args []string) error {
	o.namespace = args[0]
	if len(args) == 3 {
		o.verb, o.resource = args[1], args[2]
	}
	return nil
}

func (o *whoOptions) Validate() error { return o.output.Validate() }

func (o *whoOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	if _, err := c.namespaces.Get(ctx, o.namespace, metav1.GetOptions{}); err != nil {
		return err
	}
	permissions, notes, err := readPermissions(ctx, c, o.namespace)
	if err != nil {
		return err
	}
	key := "admins"
	var grants []admins.Grant
	var unread []string
	if o.verb == "" {
		grants, unread = permissions.Admins()
	} else {
		permission, err := permissionOf(o.factory, o.verb, o.resource)
		if err != nil {
			return err
		}
		key = "grants"
		grants, unread = permissions.Who(permission)
		grants = slices.DeleteFunc(grants, func(g admins.Grant) bool { return g.Unknown })
	}
	for _, note := range append(notes, o.unreadNotes(unread)...) {
		Warnf(o.ErrOut, "%s", note)
	}
	printed, err := o.output.Print(o.Out, map[string]any{"namespace": o.namespace, key: grants}, func() []string {
		var names []string
		// Several bindings may grant it to a subject.
		named := sets.New[string]()
		for _, g := range grants {
			if name := strings.ToLower(g.Subject.Kind) + "/" + subjectName(g.Subject); !named.Has(name) {
				named.Insert(name)
				names = append(names, name)
			}
		}
		return names
	})
	if printed {
		return err
	}
	if len(grants) == 0 {
		what := "to be admin of " + o.namespace
		if o.verb != "" {
			what = fmt.Sprintf("to be allowed to %s %s in %s", o.verb, o.resource, o.namespace)
		}
		_, err := fmt.Fprintf(o.ErrOut, "Nobody is known %s.\n", what)
		return err
	}
	return printGrants(o.Out, grants, o.verb == "")
}

// permissionOf returns the permission of a verb on a resource, by any of its names, or on a subresource of it.
func permissionOf(f *Factory, verb, resource string) (admins.Permission, error) {
	resource, sub, isSub := strings.Cut(resource, "/")
	mapping, err := f.Mapping(resource)
	if err != nil {
		return admins.Permission{}, err
	}
	p := admins.Permission{Verb: strings.ToLower(verb), Group: mapping.Resource.Group, Resource: mapping.Resource.Resource}
	if isSub {
		p.Resource += "/" + sub
	}
	return p, nil
}

// unreadNotes says what is not known because ClusterRoles could not be read.
func (o *whoOptions) unreadNotes(clusterRoles []string) []string {
	if len(clusterRoles) == 0 {
		return nil
	}
	what := describeUnread(clusterRoles)
	if o.verb != "" {
		what = fmt.Sprintf("whether ClusterRoles %s permit this is not known", strings.Join(clusterRoles, ", "))
	}
	return []string{fmt.Sprintf("%s: missing permission: list clusterroles.%s in the whole cluster", what, rbacv1.GroupName)}
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

// readPermissions reads the RBAC objects that apply to a namespace. Those of the whole cluster are left out if the
// requester may not read them; notes say so for bindings.
func readPermissions(ctx context.Context, c *Clients, namespace string) (permissions *admins.Permissions, notes []string, err error) {
	rbac := c.Kube.RbacV1()
	all := metav1.ListOptions{}
	bindings, err := rbac.RoleBindings(namespace).List(ctx, all)
	if err != nil {
		return nil, nil, err
	}
	roles, err := rbac.Roles(namespace).List(ctx, all)
	if err != nil {
		return nil, nil, err
	}
	permissions = &admins.Permissions{Bindings: bindings.Items, Roles: roles.Items, ClusterRoles: map[string]rbacv1.ClusterRole{}}
	clusterBindings, err := rbac.ClusterRoleBindings().List(ctx, all)
	switch {
	case apierrors.IsForbidden(err):
		notes = append(notes, "admins of the whole cluster are left out: missing permission: "+missingPermission(err))
	case err != nil:
		return nil, nil, err
	default:
		permissions.ClusterRoleBindings = clusterBindings.Items
	}
	clusterRoles, err := rbac.ClusterRoles().List(ctx, all)
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, nil, err
	}
	if err == nil {
		permissions.AllClusterRoles = true
		for i := range clusterRoles.Items {
			permissions.ClusterRoles[clusterRoles.Items[i].Name] = clusterRoles.Items[i]
		}
	}
	return permissions, notes, nil
}

func printGrants(w io.Writer, grants []admins.Grant, admin bool) error {
	table := printers.GetNewTabWriter(w)
	subject := "SUBJECT"
	if admin {
		subject = "ADMIN"
	}
	_, _ = fmt.Fprintf(table, "KIND\t%s\tROLE\tBINDING\tAT\n", subject)
	for _, g := range grants {
		at := g.At
		if at == "" {
			at = "(cluster)"
		}
		role := g.Role
		if len(g.Names) > 0 {
			role += " (only " + strings.Join(g.Names, ", ") + ")"
		}
		_, _ = io.WriteString(table, names.Row(g.Subject.Kind, subjectName(g.Subject), role, g.Binding, at))
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
