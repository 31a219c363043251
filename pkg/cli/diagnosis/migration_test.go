package diagnosis

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestMigration(t *testing.T) {
	state := func(data map[string]string) *corev1.ConfigMap { return &corev1.ConfigMap{Data: data} }
	for name, test := range map[string]struct {
		state      *corev1.ConfigMap
		besideHNC  bool
		severity   Severity
		text, hint string
	}{
		"beside HNC":   {nil, true, Warning, "HNC serves this cluster", "kubectl hns migrate --dry-run"},
		"begun":        {state(nil), true, Error, "the last completed step is none", "or kubectl hns migrate rollback"},
		"under way":    {state(map[string]string{hnc.MigrationStep: "export"}), true, Error, "the last completed step is export", "or kubectl hns migrate rollback"},
		"deleting":     {state(map[string]string{hnc.MigrationStep: "preview", hnc.MigrationDeleting: "true"}), false, Error, "HNC's definitions are deleted", "rollback --export FILE"},
		"rolling back": {state(map[string]string{hnc.MigrationStep: "export", hnc.MigrationRollingBack: "true"}), true, Error, "a rollback has begun", "kubectl hns migrate rollback"},
	} {
		got := Migration(test.state, test.besideHNC)
		expect(t, name, *got, test.severity, test.text)
		expect(t, name, Finding{got.Severity, got.Subject, got.Hint, got.Hint}, test.severity, test.hint)
	}
	if got := Migration(nil, false); got != nil {
		t.Errorf("without a migration: %+v", got)
	}
}

func TestBesideHNC(t *testing.T) {
	definitions := []string{"hierarchyconfigurations.hnc.x-k8s.io"}
	propagated := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{hnc.AnnotationStore: "x"}}}
	if !BesideHNC(definitions, &metav1.PartialObjectMetadata{}) || BesideHNC(definitions, propagated) || BesideHNC(nil, nil) {
		t.Error("HNC serves a cluster with its definitions in which hns-propagator has not propagated")
	}
}

func TestRunningHNC(t *testing.T) {
	state := func(step string, more ...string) *corev1.ConfigMap {
		s := &corev1.ConfigMap{Data: map[string]string{hnc.MigrationStep: step}}
		for _, key := range more {
			s.Data[key] = "true"
		}
		return s
	}
	for name, state := range map[string]*corev1.ConfigMap{
		"before it is stopped": state("webhooks"), "rolling back": state("import", hnc.MigrationRollingBack),
		"rolling back from the export": state("preview", hnc.MigrationDeleting, hnc.MigrationRollingBack),
	} {
		if got := RunningHNC(state, 1); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := RunningHNC(nil, 0); got != nil {
		t.Errorf("without replicas: %+v", got)
	}
	expect(t, "migrated", RunningHNC(nil, 1)[0], Error, "HNC runs in a cluster that is migrated")
	expect(t, "without definitions", RunningHNC(state("preview", hnc.MigrationDeleting), 1)[0], Error, "HNC runs in a cluster that is migrated")
	expect(t, "under way", RunningHNC(state("stop"), 1)[0], Error, "HNC runs although the migration has stopped it")
}
