package migration

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kubectl prints nothing but the message of an error of the API, so that a step's error must not be one.
func TestErrorsNameTheStep(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "subnamespaces"}, "a", errors.New("it has children"))
	err := stepFailed(step{name: "import"}, forbidden, (&Migration{state: &state{stored: &corev1.ConfigMap{}}}).wayBack())
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		t.Errorf("%v is an error of the API", err)
	}
	for _, want := range []string{"step import: ", "it has children", "\nRepeat the command to continue, or undo everything: kubectl hns migrate rollback"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not contain %q", err, want)
		}
	}
	if err := stepFailed(step{name: "import"}, fmt.Errorf("HNC runs again: %w", errRestarted), "way"); strings.Contains(err.Error(), "Repeat") || !strings.HasPrefix(err.Error(), "step import: HNC runs again") {
		t.Errorf("a step is to be repeated although HNC runs: %v", err)
	}
	if err := stepFailed(step{name: "preview"}, ErrNotConfirmed, ""); !errors.Is(err, ErrNotConfirmed) {
		t.Errorf("the answer no is not recognized: %v", err)
	}
}
