package migration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
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
	if err := m.describePermissions(ctx, all.resources); err != nil {
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

// rejection is an object of HNC, or a part of one, that the API server rejects.
type rejection struct {
	object, why string
	// needed is set if a namespace would lose its parent, or something that it has, without this. So it is not left
	// out.
	needed bool
}

// rejections returns an error about what the API server rejects, unless the user leaves it out.
func (m *Migration) rejections(rejected []rejection) error {
	var needed, others []string
	for _, r := range rejected {
		line := r.object + ": " + r.why
		if r.needed {
			needed = append(needed, line)
		} else {
			others = append(others, line)
		}
	}
	slices.Sort(needed)
	slices.Sort(others)
	var problems []string
	switch {
	case len(others) == 0:
	case !m.SkipRejected:
		problems = append(problems, fmt.Sprintf("hns-apiserver rejects %d of HNC's objects; change or delete them, or leave them out by --skip-rejected:\n  %s", len(others), bullets(others)))
	default:
		if err := m.printList("Left out, because hns-apiserver rejects them:", others); err != nil {
			return err
		}
	}
	if len(needed) > 0 {
		problems = append(problems, fmt.Sprintf("hns-apiserver rejects %d of HNC's objects that --skip-rejected does not leave out, because namespaces would lose what they have; change them:\n  %s",
			len(needed), bullets(needed)))
	}
	if len(problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(problems, "\n"))
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
