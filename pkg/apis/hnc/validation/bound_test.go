package validation

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Errors repeat values, escaped, several times. Whoever may write an object can send it as a dry run as often as they
// like.
func TestRejectionsAreBounded(t *testing.T) {
	long := strings.Repeat("<", 30<<10)
	meta := metav1.ObjectMeta{Name: hnc.Singleton}
	h := &hnc.Hierarchy{ObjectMeta: meta}
	for i := range 100 {
		h.Spec.RequiredChildren = append(h.Spec.RequiredChildren, fmt.Sprint(i, long))
		h.Spec.AbstractAncestors = append(h.Spec.AbstractAncestors, fmt.Sprint(i, long))
		h.Spec.Propagation = append(h.Spec.Propagation, hnc.ResourceSpec{Resource: long, Mode: hnc.SynchronizationMode(long), OnConflict: hnc.ConflictPolicy(long)})
	}
	view := &hnc.TenantView{ObjectMeta: meta, Spec: hnc.TenantViewSpec{Names: hnc.ViewNames(long), Prefix: long, External: h.Spec.RequiredChildren}}
	sync := &hnc.RepositorySync{Spec: hnc.RepositorySyncSpec{Cluster: long, Source: hnc.RepositorySource{URL: long, Branch: long, Tag: long, Commit: long, Directory: long, SecretName: long}}}
	config := &hnc.HNCConfiguration{ObjectMeta: meta, Spec: hnc.HNCConfigurationSpec{CreatorRole: long, OnConflict: hnc.ConflictPolicy(long), Resources: h.Spec.Propagation}}
	for name, errs := range map[string]field.ErrorList{
		"Hierarchy":        ValidateHierarchy(h, nil),
		"TenantView":       ValidateTenantView(view),
		"RepositorySync":   ValidateRepositorySync(sync),
		"HNCConfiguration": ValidateConfiguration(config),
	} {
		status := apierrors.NewInvalid(hnc.SchemeGroupVersion.WithKind(name).GroupKind(), hnc.Singleton, errs)
		if n := len(status.Error()); len(errs) == 0 || n > 64<<10 {
			t.Errorf("%s: %d errors with %d bytes", name, len(errs), n)
		}
	}
	errs := ValidateHierarchy(h, nil)
	if last := errs[len(errs)-1].Error(); len(errs) != 21 || !strings.Contains(last, "more errors, which are not listed") {
		t.Errorf("got %d errors, the last one %q", len(errs), last)
	}
}
