package policy

import (
	"context"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// From the first request that a restarted kube-apiserver answers, all is protected, and what is allowed is not held up.
func TestPoliciesHoldThroughARestart(t *testing.T) {
	ns := newCopies(t)
	if err := cp.Kill(t.Context(), "kube-apiserver"); err != nil {
		t.Fatal(err)
	}
	started := make(chan error, 1)
	go func() {
		_, err := controlplane.Start(t.Context(), suite.Config(cp.Dir(), binDir))
		started <- err
	}()
	forbidden := make(chan error, 1)
	go func() {
		forbidden <- firstAnswer(t.Context(), func(ctx context.Context) error {
			return admin.CoreV1().ConfigMaps(ns).Delete(ctx, "inherited", metav1.DeleteOptions{})
		})
	}()
	err := firstAnswer(t.Context(), func(ctx context.Context) error {
		created, err := admin.CoreV1().Namespaces().Create(ctx, namespace("after-restart"), metav1.CreateOptions{})
		if err == nil && created.Labels[hnc.LabelIncludedNamespace] != "true" {
			t.Error("want the first namespace after the restart to be included")
		}
		return err
	})
	if err != nil {
		t.Errorf("want the first creation of a namespace after the restart to succeed, got: %v", err)
	}
	denied(t, <-forbidden)
	if err := <-started; err != nil {
		t.Fatal(err)
	}
}

// firstAnswer calls until the server is up to answering, and returns its answer.
func firstAnswer(ctx context.Context, call func(ctx context.Context) error) error {
	var answer error
	err := wait.PollUntilContextTimeout(ctx, time.Millisecond, deadline, true, func(ctx context.Context) (bool, error) {
		answer = call(ctx)
		reason := apierrors.ReasonForError(answer)
		// No answer at all, or one of the server's own start, when it may not know the schemas of kinds yet.
		starts := answer != nil && (reason == metav1.StatusReasonUnknown || strings.Contains(answer.Error(), "not yet ready to handle request") ||
			strings.Contains(answer.Error(), "Resource kind /v1, Kind=Namespace not found"))
		return !starts, nil
	})
	if err != nil {
		return err
	}
	return answer
}
