package children

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// A sub-namespace whose Subnamespace an admin has taken away must not get away from what the parent demands.
func TestASubnamespaceWithoutItsRecordFollowsPodSecurity(t *testing.T) {
	namespaces(t, "shed-top")
	mallory := newUser(t, "mallory-shed")
	mallory.bind(t, "shed-top", "edit")
	mallory.eventuallyMay(t, "create", hnc.GroupName, "subnamespaces", "shed-top", "")
	for _, name := range []string{"shed-before", "shed-after"} {
		if _, err := mallory.subnamespace(t, "shed-top", name); err != nil {
			t.Fatal(err)
		}
	}
	detach := func(name string) {
		records := root.HNC.HncV1beta1().Subnamespaces("shed-top")
		if _, err := records.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := records.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		eventuallyReports(t, name, hnc.ReasonSubnamespaceMissing)
	}
	detach("shed-before")
	if err := root.labelled(t, "shed-top", enforce, "restricted"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shed-before", "shed-after"} {
		eventuallyLabelled(t, name, enforce, "restricted")
		mallory.eventuallyRefusesHostPod(t, name, "violates PodSecurity")
	}
	detach("shed-after")
	refused(t, "a pod on the host", mallory.hostPod(t, "shed-after"), apierrors.IsForbidden, "violates PodSecurity")
}

func TestPodSecurityIsInheritedUnlessAFlagSaysOtherwise(t *testing.T) {
	namespaces(t, "insecure-top")
	if err := root.labelled(t, "insecure-top", enforce, "restricted"); err != nil {
		t.Fatal(err)
	}
	if _, err := root.subnamespace(t, "insecure-top", "insecure-sub"); err != nil {
		t.Fatal(err)
	}
	eventuallyLabelled(t, "insecure-sub", enforce, "restricted")
	if err := cp.StopProcess(t.Context(), propagator.Name); err != nil {
		t.Fatal(err)
	}
	off := propagator
	off.Args = append(off.Args[:len(off.Args):len(off.Args)], "--inherit-pod-security=false")
	if _, err := cp.StartServer(t.Context(), installation, off); err != nil {
		t.Fatal(err)
	}
	defer stopped(t, func() {})
	if err := root.labelled(t, "insecure-top", enforce, "baseline"); err != nil {
		t.Fatal(err)
	}
	if _, err := root.subnamespace(t, "insecure-top", "insecure-new"); err != nil {
		t.Fatal(err)
	}
	eventuallyReady(t, "insecure-top", "insecure-new")
	eventuallyLabelled(t, "insecure-new", enforce, "")
	eventuallyLabelled(t, "insecure-sub", enforce, "restricted")
}
