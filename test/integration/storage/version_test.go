package storage

import (
	"bytes"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

const (
	syncKey       = earlierPrefix + "/hnc.x-k8s.io/repositorysyncs/earlier"
	alpha, before = `"apiVersion":"hnc.x-k8s.io/v1alpha3"`, `"apiVersion":"hnc.x-k8s.io/v1beta1"`
)

// createSync creates an object of a kind that earlier versions served and stored as v1beta1.
func (e earlier) createSync(t *testing.T) {
	t.Helper()
	s := &v1alpha3.RepositorySync{ObjectMeta: metav1.ObjectMeta{Name: "earlier"}, Spec: v1alpha3.RepositorySyncSpec{
		Source: v1alpha3.RepositorySource{URL: "https://example.com/r.git"}, ServiceAccount: v1alpha3.ServiceAccountReference{Namespace: "top", Name: "default"},
	}}
	if _, err := e.root.HNC.HncV1alpha3().RepositorySyncs().Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// storeAsBeta stores it as such a version did, with managedFields of that version.
func (e earlier) storeAsBeta(t *testing.T) {
	t.Helper()
	value := stored(t, e.cp, syncKey)
	if bytes.Count(value, []byte(alpha)) < 2 || bytes.Contains(value, []byte(before)) {
		t.Fatalf("etcd holds %s", value)
	}
	if _, err := etcd(t, e.cp).Put(t.Context(), syncKey, string(bytes.ReplaceAll(value, []byte(alpha), []byte(before)))); err != nil {
		t.Fatal(err)
	}
}

// version checks that the object is read as v1alpha3, and written as such.
func (e earlier) version(t *testing.T) {
	client := e.root.HNC.HncV1alpha3().RepositorySyncs()
	list, err := client.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].Spec.Source.URL != "https://example.com/r.git" {
		t.Fatalf("got %+v, %v", list, err)
	}
	raw, err := client.Get(t.Context(), "earlier", metav1.GetOptions{})
	if err != nil || raw.Spec.ServiceAccount.Namespace != "top" {
		t.Fatalf("got %+v, %v", raw, err)
	}
	apply := []byte(`{"apiVersion": "hnc.x-k8s.io/v1alpha3", "kind": "RepositorySync", "metadata": {"name": "earlier"}, "spec": {"paused": true}}`)
	changed, err := client.Patch(t.Context(), "earlier", types.ApplyPatchType, apply, metav1.PatchOptions{FieldManager: "test"})
	if err != nil || !changed.Spec.Paused || changed.Spec.Source.URL != "https://example.com/r.git" {
		t.Fatalf("got %+v, %v", changed, err)
	}
	value := stored(t, e.cp, syncKey)
	if head, _, found := bytes.Cut(value, []byte("metadata")); !found || !bytes.Contains(head, []byte(alpha)) {
		t.Errorf("after a write, etcd holds %s", value)
	}
	rest := e.root.HNC.HncV1beta1().RESTClient()
	if err := rest.Get().Resource("repositorysyncs").Do(t.Context()).Error(); !apierrors.IsNotFound(err) {
		t.Errorf("reading it as v1beta1: %v", err)
	}
	other := []byte(`{"apiVersion": "hnc.x-k8s.io/v1beta1", "kind": "RepositorySync", "metadata": {"name": "other"}}`)
	if err := e.root.HNC.HncV1alpha3().RESTClient().Post().Resource("repositorysyncs").Body(other).Do(t.Context()).Error(); !apierrors.IsBadRequest(err) {
		t.Errorf("creating one as v1beta1: %v", err)
	}
	if err := client.Delete(t.Context(), "earlier", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}
