package children

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// A Subnamespace claims a name that is free. When another namespace gets it, the claim is gone: an annotation must not
// make of that a move that nobody has validated.
func TestALostClaimIsNotUsedLater(t *testing.T) {
	namespaces(t, "lost-top", "lost-lab", "lost-other")
	if err := root.hierarchy(t, "lost-lab", below("lost-top")); err != nil {
		t.Fatal(err)
	}
	ancestryIs(t, "lost-lab", "lost-lab", "lost-top")
	mallory := newUser(t, "mallory-lost")
	mallory.admin(t, "lost-lab", "lost-other")
	mallory.grant(t, "", "get,create,patch /namespaces")
	lost := map[string]map[string]string{
		"lost-external":  {hnc.AnnotationManagedBy: "mallory"},
		"lost-elsewhere": {hnc.AnnotationSubnamespaceOf: "lost-other"},
		"lost-deleted":   {hnc.AnnotationManagedBy: "mallory"},
	}
	claims := mallory.HNC.HncV1beta1().Subnamespaces("lost-lab")
	stopped(t, func() {
		for name, annotations := range lost {
			mallory.claim(t, "lost-lab", name)
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}
			if _, err := mallory.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			mallory.admin(t, name)
		}
		patch := []byte(`{"metadata":{"finalizers":["example.com/mine"]}}`)
		if _, err := claims.Patch(t.Context(), "lost-deleted", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := claims.Delete(t.Context(), "lost-deleted", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	})
	for name := range lost {
		suite.Eventually(t, "the Subnamespace of "+name+" is void", func() error {
			s, err := claims.Get(t.Context(), name, metav1.GetOptions{})
			if err == nil && s.Annotations[hnc.AnnotationVoid] == "" {
				err = fmt.Errorf("got %v, %+v", s.Annotations, s.Status)
			}
			return err
		})
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null,%q:"lost-lab"}}}`, hnc.AnnotationManagedBy, hnc.AnnotationSubnamespaceOf)
		if _, err := mallory.CoreV1().Namespaces().Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		eventuallyReports(t, name, hnc.ReasonSubnamespaceMissing, "is void")
		ancestryIs(t, name, name)
	}
	var warnings strings.Builder
	config := rest.CopyConfig(mallory.Config)
	config.WarningHandler = rest.NewWarningWriter(&warnings, rest.WarningWriterOptions{})
	warned, err := clients("mallory-lost", config)
	if err != nil {
		t.Fatal(err)
	}
	dryRun := metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}
	if err := warned.HNC.HncV1beta1().Subnamespaces("lost-lab").Delete(t.Context(), "lost-external", dryRun); err != nil || warnings.Len() > 0 {
		t.Errorf("a dry run of the deletion: %v, warnings %q", err, warnings.String())
	}
	// HNC's clients see what they know.
	suite.EventuallyEqual(t, "the state of the anchor", "Conflict", func() string {
		anchor, err := root.HNC.HncV1alpha2().SubnamespaceAnchors("lost-lab").Get(t.Context(), "lost-external", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		return string(anchor.Status.Status)
	})
	// Created again, it is validated as a move.
	if err := claims.Delete(t.Context(), "lost-external", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the name is free", func() error {
		_, err := mallory.subnamespace(t, "lost-lab", "lost-external")
		return err
	})
	ancestryIs(t, "lost-external", "lost-external", "lost-lab", "lost-top")
	if _, err := claims.Patch(t.Context(), "lost-deleted", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}
