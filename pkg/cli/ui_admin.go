package cli

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/diagnosis"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/ui"
)

func (r *uiReader) Administration(ctx context.Context) (*ui.Administration, error) {
	config, err := GetConfiguration(ctx, r.clients)
	if err != nil {
		return nil, err
	}
	answer := &ui.Administration{
		Kinds: append([]v1beta1.ResourceStatus{}, config.Status.Resources...), Problems: tree.Problems(config.Status.Details()),
		Rules: config.Spec.Rules, Repositories: []ui.Repository{},
	}
	syncs, err := r.clients.Hierarchy.HncV1alpha3().RepositorySyncs().List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsForbidden(err):
		answer.Notes = append(answer.Notes, "repositories are left out: missing permission: "+missingPermission(err))
	case isUnserved(err):
	case err != nil:
		return nil, err
	default:
		for i := range syncs.Items {
			answer.Repositories = append(answer.Repositories, newRepository(&syncs.Items[i]))
		}
	}
	return answer, nil
}

func newRepository(s *v1alpha3.RepositorySync) ui.Repository {
	condition := diagnosis.SyncReady(s)
	repository := ui.Repository{
		Name: s.Name, Synced: condition.Status, Reason: condition.Reason, Message: condition.Message,
		Applied: s.Status.AppliedCommit, Seen: s.Status.SeenCommit, Failed: s.Status.Failed, Objects: s.Status.Objects,
	}
	if problems := SyncProblems(s, false); problems != "" {
		// The first line is the message.
		repository.Errors = strings.Split(strings.TrimSpace(problems), "\n")[1:]
	}
	return repository
}

// Checks looks as `kubectl hns doctor` does.
func (r *uiReader) Checks(ctx context.Context) ([]ui.Check, error) {
	doctor := &doctorOptions{factory: r.factory, clients: r.clients}
	if err := doctor.look(ctx); err != nil {
		return nil, err
	}
	checks := make([]ui.Check, 0, len(doctor.findings))
	for _, f := range doctor.findings {
		checks = append(checks, ui.Check{Severity: f.Severity.String(), Subject: f.Subject, Text: f.Text, Hint: f.Hint})
	}
	return checks, nil
}
