package children

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const enforce = "pod-security.kubernetes.io/enforce"

// labelled changes a label of a namespace; "" removes it.
func (u user) labelled(t *testing.T, namespace, key, value string) error {
	t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:null}}}`, key)
	if value != "" {
		patch = fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, key, value)
	}
	_, err := u.CoreV1().Namespaces().Patch(t.Context(), namespace, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func eventuallyLabelled(t *testing.T, namespace, key, value string) {
	t.Helper()
	suite.Eventually(t, fmt.Sprintf("label %s of %s is %q", key, namespace, value), func() error {
		ns, err := root.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
		if err == nil && ns.Labels[key] != value {
			err = fmt.Errorf("got %v", ns.Labels)
		}
		return err
	})
}

// eventuallyRefusesHostPod waits until no such pod is admitted: kube-apiserver sees the labels of a namespace a moment
// after they are written.
func (u user) eventuallyRefusesHostPod(t *testing.T, namespace, why string) {
	t.Helper()
	suite.Eventually(t, "a pod on the host is refused in "+namespace, func() error {
		if err := u.hostPod(t, namespace); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), why) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
}

// hostPod tries to create a pod in the network of its host, which only the level privileged permits. The ServiceAccount
// that pods need may come later than the namespace.
func (u user) hostPod(t *testing.T, namespace string) error {
	t.Helper()
	var result error
	suite.Eventually(t, "an answer to a pod in "+namespace, func() error {
		_, result = u.CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "host-"},
			Spec:       corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{{Name: "c", Image: "registry.k8s.io/pause"}}},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if result != nil && (strings.Contains(result.Error(), "serviceaccount") || strings.Contains(result.Error(), "cannot create resource")) {
			return result
		}
		return nil
	})
	return result
}

func TestSubnamespacesInheritPodSecurity(t *testing.T) {
	namespaces(t, "secure-top", "secure-full")
	for _, label := range [][2]string{{enforce, "restricted"}, {enforce + "-version", "v1.30"}, {"pod-security.kubernetes.io/warn", "baseline"}} {
		if err := root.labelled(t, "secure-top", label[0], label[1]); err != nil {
			t.Fatal(err)
		}
	}
	evan := newUser(t, "evan-secure")
	evan.bind(t, "secure-top", "edit")
	evan.eventuallyMay(t, "create", hnc.GroupName, "subnamespaces", "secure-top", "")

	// From its first version on.
	events, err := root.CoreV1().Namespaces().Watch(t.Context(), metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", "secure-sub").String()})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	if _, err := evan.subnamespace(t, "secure-top", "secure-sub"); err != nil {
		t.Fatal(err)
	}
	first := <-events.ResultChan()
	created, ok := first.Object.(*corev1.Namespace)
	if !ok || first.Type != watch.Added || created.Labels[enforce] != "restricted" || created.Labels[enforce+"-version"] != "v1.30" ||
		created.Labels["pod-security.kubernetes.io/warn"] != "baseline" {
		t.Errorf("it was created as %v", first)
	}
	evan.eventuallyRefusesHostPod(t, "secure-sub", `violates PodSecurity "restricted:v1.30"`)
	if _, err := evan.subnamespace(t, "secure-sub", "secure-leaf"); err != nil {
		t.Fatal(err)
	}
	evan.eventuallyRefusesHostPod(t, "secure-leaf", "violates PodSecurity")
	if err := root.hierarchy(t, "secure-full", below("secure-top")); err != nil {
		t.Fatal(err)
	}
	ancestryIs(t, "secure-full", "secure-full", "secure-top")
	eventuallyLabelled(t, "secure-full", enforce, "")

	// A user who only has edit can't change that.
	refused(t, "the label", evan.labelled(t, "secure-sub", enforce, "privileged"), apierrors.IsForbidden)
	patch := fmt.Sprintf(`{"spec":{"labels":[{"key":%q,"value":"privileged"}]}}`, enforce)
	_, err = evan.HNC.HncV1beta1().Subnamespaces("secure-top").Patch(t.Context(), "secure-sub", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
		t.Errorf("by the Subnamespace: got %v", err)
	}

	t.Run("they follow the parent", func(t *testing.T) {
		for _, change := range []string{"baseline", "", "restricted"} {
			if err := root.labelled(t, "secure-top", enforce, change); err != nil {
				t.Fatal(err)
			}
			eventuallyLabelled(t, "secure-sub", enforce, change)
			eventuallyLabelled(t, "secure-leaf", enforce, change)
		}
		eventuallyLabelled(t, "secure-full", enforce, "")
	})

	t.Run("unless somebody who may patch the namespace pins another value", func(t *testing.T) {
		if err := root.labelled(t, "secure-sub", enforce, "privileged"); err != nil {
			t.Fatal(err)
		}
		eventuallyLabelled(t, "secure-leaf", enforce, "privileged")
		suite.Eventually(t, "a pod in the host's network is admitted", func() error { return evan.hostPod(t, "secure-sub") })
		if err := root.labelled(t, "secure-top", enforce, "baseline"); err != nil {
			t.Fatal(err)
		}
		if err := root.labelled(t, "secure-top", "pod-security.kubernetes.io/audit", "baseline"); err != nil {
			t.Fatal(err)
		}
		// The other labels go on following.
		eventuallyLabelled(t, "secure-sub", "pod-security.kubernetes.io/audit", "baseline")
		stopped(t, func() {})
		if err := root.labelled(t, "secure-top", "pod-security.kubernetes.io/audit", ""); err != nil {
			t.Fatal(err)
		}
		eventuallyLabelled(t, "secure-sub", "pod-security.kubernetes.io/audit", "")
		eventuallyLabelled(t, "secure-sub", enforce, "privileged")
		eventuallyLabelled(t, "secure-leaf", enforce, "privileged")
		// Without the label, it follows again.
		if err := root.labelled(t, "secure-sub", enforce, ""); err != nil {
			t.Fatal(err)
		}
		eventuallyLabelled(t, "secure-sub", enforce, "baseline")
		eventuallyLabelled(t, "secure-leaf", enforce, "baseline")
		evan.eventuallyRefusesHostPod(t, "secure-sub", "violates PodSecurity")
	})

	t.Run("nobody writes the record", func(t *testing.T) {
		patcher := newUser(t, "patcher-secure")
		patcher.grant(t, "", "get,patch,create /namespaces")
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, hnc.AnnotationInheritedPodSecurity, enforce+"=baseline")
		_, err := patcher.CoreV1().Namespaces().Patch(t.Context(), "secure-full", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		refused(t, "writing it", err, apierrors.IsForbidden, hnc.AnnotationInheritedPodSecurity)
		_, err = patcher.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: "secure-forged", Annotations: map[string]string{hnc.AnnotationInheritedPodSecurity: "x"},
		}}, metav1.CreateOptions{})
		refused(t, "creating it", err, apierrors.IsForbidden, hnc.AnnotationInheritedPodSecurity)
	})

	t.Run("existing ones without labels get them", func(t *testing.T) {
		config, err := cp.User(hnc.PropagatorUser, "system:masters")
		if err != nil {
			t.Fatal(err)
		}
		itself, err := clients(hnc.PropagatorUser, config)
		if err != nil {
			t.Fatal(err)
		}
		stopped(t, func() {
			// As a propagator left it that knew nothing of these labels.
			remove := fmt.Sprintf(`{"metadata":{"labels":{%q:null,%q:null},"annotations":{%q:null}}}`, enforce, enforce+"-version", hnc.AnnotationInheritedPodSecurity)
			for _, name := range []string{"secure-sub", "secure-leaf"} {
				if _, err := itself.CoreV1().Namespaces().Patch(t.Context(), name, types.MergePatchType, []byte(remove), metav1.PatchOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if err := root.labelled(t, "secure-leaf", enforce, "privileged"); err != nil {
				t.Fatal(err)
			}
		})
		eventuallyLabelled(t, "secure-sub", enforce, "baseline")
		// What somebody has set stays.
		eventuallyLabelled(t, "secure-leaf", enforce+"-version", "v1.30")
		eventuallyLabelled(t, "secure-leaf", enforce, "privileged")
	})
}
