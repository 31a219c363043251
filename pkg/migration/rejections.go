package migration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/migration/each"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// describe prints what is imported, and what is not imported as it was. It returns an error about what hns-apiserver
// would reject.
func (m *Migration) describe(ctx context.Context, e *export) error {
	all, err := m.imports(ctx, e)
	if err != nil {
		return err
	}
	children := 0
	for _, h := range slices.Concat(all.hierarchies, all.orphans) {
		if h.Spec.Parent != "" {
			children++
		}
	}
	if err := m.printf("Found %d namespaces with a hierarchy, %d of them with a parent, %d anchors, %d quotas, %d configured kinds.\n",
		len(all.hierarchies)+len(all.orphans), children, len(all.subnamespaces), len(all.quotas), len(all.resources)); err != nil {
		return err
	}
	if err := m.printList("These are not imported (the export has them):", all.leftOut); err != nil {
		return err
	}
	if err := m.printList("Look at these afterwards:", all.notes); err != nil {
		return err
	}
	if err := m.describeReplaced(ctx, all.resources); err != nil {
		return err
	}
	if err := m.describeRights(ctx, all.resources); err != nil {
		return err
	}
	return m.foresee(ctx, all)
}

// describeReplaced prints the kinds of hns-apiserver's configuration that HNC's do not have.
func (m *Migration) describeReplaced(ctx context.Context, resources []v1beta1.ResourceSpec) error {
	current, err := m.hierarchy.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil {
		return gone(err)
	}
	var replaced []string
	for _, r := range current.Spec.Resources {
		if !slices.ContainsFunc(resources, func(o v1beta1.ResourceSpec) bool { return o.Group == r.Group && o.Resource == r.Resource }) {
			replaced = append(replaced, r.Resource+" "+r.Group)
		}
	}
	return m.printList("These kinds in the configuration of hns-apiserver are removed, because HNC's has others:", replaced)
}

// foresee lets the API server validate the configured kinds and the quotas, while HNC serves the cluster. Its webhooks,
// which are called when hns-apiserver has found nothing wrong, may reject them for reasons of their own. Hierarchies
// depend on rules that are not in force yet, by which they were translated.
func (m *Migration) foresee(ctx context.Context, all *imports) error {
	i := &importer{clients: m.clients, dryRun: []string{metav1.DryRunAll}}
	ignoreOthers := func(object string, err error) error {
		if apierrors.IsInvalid(err) {
			return i.record(object, err)
		}
		return nil
	}
	if err := ignoreOthers("hncconfigurations config", i.configure(ctx, all.resources)); err != nil {
		return err
	}
	err := each.Of(ctx, all.quotas, func(ctx context.Context, q *v1beta1.HierarchicalResourceQuota) error {
		_, err := m.hierarchy.HncV1beta1().HierarchicalResourceQuotas(q.Namespace).Create(ctx, q, i.createOptions())
		return ignoreOthers("hierarchicalresourcequotas "+q.Namespace+"/"+q.Name, err)
	})
	if err != nil {
		return err
	}
	return m.rejections(i.rejected)
}

// rehearse lets the API server validate the whole import without storing it. It does so when HNC's webhooks are gone:
// they would be called, too, because the API server knows the two names of each resource as equivalent.
func (m *Migration) rehearse(ctx context.Context, all *imports) error {
	i := &importer{clients: m.clients, dryRun: []string{metav1.DryRunAll}}
	if err := i.run(ctx, all); err != nil {
		return err
	}
	return m.rejections(i.rejected)
}

// rejections returns an error about the objects that the API server rejects, unless the user leaves them out.
func (m *Migration) rejections(rejected []string) error {
	if len(rejected) == 0 {
		return nil
	}
	slices.Sort(rejected)
	if m.SkipRejected {
		return m.printList("Left out, because hns-apiserver rejects them:", rejected)
	}
	return fmt.Errorf("hns-apiserver rejects %d of HNC's objects; change or delete them, or leave them out by --skip-rejected:\n  %s", len(rejected), bullets(rejected))
}

func (m *Migration) printList(title string, list []string) error {
	if len(list) == 0 {
		return nil
	}
	return m.printf("%s\n  %s\n", title, bullets(list))
}

// bullets returns the entries, a line each. They contain the names and messages of others.
func bullets(entries []string) string {
	lines := make([]string, 0, len(entries))
	for _, entry := range entries {
		lines = append(lines, names.Printable(entry))
	}
	return strings.Join(lines, "\n  ")
}

// message returns the server's message.
func message(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Message != "" {
		return status.Status().Message
	}
	return err.Error()
}
