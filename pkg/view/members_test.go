package view

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
)

// TestOnlyTheWatchShowsMembers has an answer about a namespace that the watch has already removed.
func TestOnlyTheWatchShowsMembers(t *testing.T) {
	team := &v1alpha3.MyNamespace{ObjectMeta: metav1.ObjectMeta{Name: "team", UID: "u", Labels: map[string]string{hnc.TreeLabel("root"): "1"}}}
	m := NewWatched("root", fake.NewClientset(team).HncV1alpha3().MyNamespaces())
	m.set(team)
	m.remove("team")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if member, err := m.Get(ctx, "team"); member != nil || !apierrors.IsServiceUnavailable(err) {
		t.Errorf("got %v, %v", member, err)
	}
	if _, known := m.Has("team"); known {
		t.Error("it is a member for good")
	}
	if member, err := m.Get(t.Context(), "other"); member != nil || err != nil {
		t.Errorf("a namespace that does not exist: got %v, %v", member, err)
	}
	time.AfterFunc(20*time.Millisecond, func() { m.set(team) })
	if member, err := m.Get(t.Context(), "team"); member == nil || err != nil {
		t.Errorf("a namespace that the watch is about to show: got %v, %v", member, err)
	}
}
