package migration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// describe prints what is imported, and what is not imported as it was.
func (m *Migration) describe(e *export) error {
	all, err := translate(e)
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
	return m.printList("Look at these afterwards:", all.notes)
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
