package migration

import (
	"context"
	"slices"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/observe"
)

// examples is how many objects are named for each kind of writes.
const examples = 3

// preview prints what hns-propagator will write when it starts, and asks.
func (m *Migration) preview(ctx context.Context) error {
	if err := m.grantPermissions(ctx); err != nil {
		return err
	}
	args, err := observe.InstalledArgs(ctx, m.kube)
	if err != nil {
		return err
	}
	// The next step trusts the hierarchies: the labels that HNC leaves are no sign of others.
	report, err := observe.Run(ctx, asPropagator(m.config), args, hnc.TrustHierarchies)
	if err != nil {
		return err
	}
	lines := report.Lines(examples)
	if len(lines) == 0 {
		lines = []string{"nothing"}
	}
	if err := m.printList("hns-propagator will write:", lines); err != nil {
		return err
	}
	if !m.KeepTracking && slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "  ") && strings.Contains(line, " removed: ") }) {
		if err := m.printf("Copies lose the labels and annotations by which tools track their objects, and finalizers: Helm or Argo CD would take them for their own.\n" +
			"To keep labels and annotations: kubectl hns migrate rollback, then kubectl hns migrate --strip-tracking-metadata=false.\n"); err != nil {
			return err
		}
	}
	return m.Confirm("Delete HNC's definitions, after which a rollback needs the export? (yes/no) ")
}
