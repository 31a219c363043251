package migrate

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// How Helm marks the objects of a release. It takes over objects that have these marks, and an upgrade to a chart that
// does not have them deletes them.
const (
	releaseName, releaseNamespace = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"
	managedBy                     = "app.kubernetes.io/managed-by"
)

// ownedByRelease makes hns a Helm release, as far as the migration sees it.
func ownedByRelease(t *testing.T) {
	t.Helper()
	patch := []byte(`{"metadata":{"labels":{"` + managedBy + `":"Helm"},"annotations":{"` + releaseName + `":"hns","` + releaseNamespace + `":"hns-system"}}}`)
	if _, err := admin.Dynamic.Resource(apiServices).Patch(t.Context(), "v1beta1.hnc.x-k8s.io", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// belongsToRelease checks that the APIServices of HNC's versions belong to the release of hns, which takes them over
// after the migration, or that they belong to none.
func belongsToRelease(t *testing.T, want bool) {
	t.Helper()
	for _, name := range []string{"v1alpha2.hnc.x-k8s.io", "v1alpha2.resources.hnc.x-k8s.io"} {
		service, err := admin.Dynamic.Resource(apiServices).Get(t.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) && !want {
			continue
		}
		if err != nil {
			t.Errorf("apiservice %s: %v", name, err)
			continue
		}
		marks := []string{service.GetLabels()[managedBy], service.GetAnnotations()[releaseName], service.GetAnnotations()[releaseNamespace]}
		for i, mark := range []string{"Helm", "hns", "hns-system"} {
			if has := marks[i] == mark; has != want || !want && marks[i] != "" {
				t.Errorf("apiservice %s belongs to a release: %q, want %t", name, marks, want)
			}
		}
	}
}
