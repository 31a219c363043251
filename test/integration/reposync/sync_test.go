package reposync

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// cleanup returns the context of cleanups: that of the test has ended.
func cleanup() context.Context { return context.Background() }

func TestRepositoryIsApplied(t *testing.T) {
	r := newRepository(t, with(namespace("a-eng/a-shop", "a-eng/a-search"), "namespaces/a-eng/policy.yaml", configMap("policy", "1")))
	start(t, "applied", r.spec())
	synced(t, "applied", r.head(t))
	eventually(t, "a-shop", "policy=1")
	eventually(t, "a-search", "policy=1")

	// A commit.
	commit := r.commit(t, map[string]string{"namespaces/a-eng/policy.yaml": configMap("policy", "2"), "namespaces/a-eng/a-shop/own.yaml": configMap("own", "1")})
	synced(t, "applied", commit)
	eventually(t, "a-shop", "own=1 policy=2")
	eventually(t, "a-search", "policy=2")

	// Objects that leave the repository are deleted, and only these.
	commit = r.commit(t, map[string]string{"namespaces/a-eng/policy.yaml": ""})
	synced(t, "applied", commit)
	eventually(t, "a-shop", "own=1")
	eventually(t, "a-search", "")

	// So are namespaces.
	commit = r.commit(t, map[string]string{"namespaces/a-eng/a-search/namespace.yaml": ""})
	synced(t, "applied", commit)
	eventually(t, "a-search", "-")
	eventually(t, "a-shop", "own=1")
}

func TestDriftIsCorrected(t *testing.T) {
	r := newRepository(t, with(namespace("d-shop"), "namespaces/policy.yaml", configMap("policy", "1")))
	start(t, "drift", r.spec())
	synced(t, "drift", r.head(t))
	maps := tenant.CoreV1().ConfigMaps("d-shop")
	for name, change := range map[string]func() error{
		"edit": func() error {
			_, err := maps.Patch(t.Context(), "policy", types.MergePatchType, []byte(`{"data":{"key":"mine"}}`), metav1.PatchOptions{})
			return err
		},
		"remove a field": func() error {
			_, err := maps.Patch(t.Context(), "policy", types.MergePatchType, []byte(`{"data":{"key":null}}`), metav1.PatchOptions{})
			return err
		},
		// Tenants may not.
		"relabel": func() error {
			_, err := admin.CoreV1().ConfigMaps("d-shop").Patch(t.Context(), "policy", types.MergePatchType, []byte(`{"metadata":{"labels":null},"data":{"key":"mine"}}`), metav1.PatchOptions{})
			return err
		},
		"delete": func() error { return maps.Delete(t.Context(), "policy", metav1.DeleteOptions{}) },
	} {
		t.Run(name, func(t *testing.T) {
			suite.Must(t, name, change)
			eventually(t, "d-shop", "policy=1")
			suite.Eventually(t, "label", func() error {
				list, err := admin.CoreV1().ConfigMaps("d-shop").List(t.Context(), metav1.ListOptions{LabelSelector: "hnc.x-k8s.io/repository-sync=drift"})
				if err == nil && len(list.Items) != 1 {
					err = apierrors.NewNotFound(v1beta1.Resource("labeled"), "policy")
				}
				return err
			})
		})
	}
	// What the repository does not set is the tenant's.
	suite.Must(t, "add a key", func() error {
		_, err := maps.Patch(t.Context(), "policy", types.MergePatchType, []byte(`{"data":{"other":"mine","key":"mine"}}`), metav1.PatchOptions{})
		return err
	})
	eventually(t, "d-shop", "policy=1")
	m, err := maps.Get(t.Context(), "policy", metav1.GetOptions{})
	if err != nil || m.Data["other"] != "mine" {
		t.Errorf("got %v, %v", m, err)
	}
}
