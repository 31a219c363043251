package children

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

var wiped = []string{"wipe", "wipe-sub", "wipe-leaf", "wipe-full"}

// wipe starts the API server with an empty store.
func wipe(t *testing.T) {
	t.Helper()
	if err := cp.Kill(t.Context(), apiServer.Name); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(cp.Dir(), apiServer.Name)); err != nil {
		t.Fatal(err)
	}
	port, err := cp.StartServer(t.Context(), installation, apiServer)
	if err != nil {
		t.Fatal(err)
	}
	if err := cp.Register(t.Context(), installation, port); err != nil {
		t.Fatal(err)
	}
}

// steady returns the footprint of namespaces when everything that was begun has been written.
func steady(t *testing.T, names ...string) map[string]string {
	t.Helper()
	return suite.Steady(t, "what is written", 3*time.Second, maps.Equal[map[string]string], func() map[string]string {
		return suite.Footprint(t, root.User, names...)
	})
}

// unwritten expects that nothing in the namespaces has been written since their footprint was taken.
func unwritten(t *testing.T, before map[string]string, names ...string) {
	t.Helper()
	if written := suite.Written(before, suite.Footprint(t, root.User, names...)); len(written) > 0 {
		t.Errorf("something was written:\n%s", strings.Join(written, "\n"))
	}
}

// eventuallyRebuilt waits until the tree is what it was. If earlier tests have left what labels do not describe, such
// as orphans, the propagation is paused, and resumes for the hierarchies.
func eventuallyRebuilt(t *testing.T) {
	t.Helper()
	suite.Eventually(t, "the propagation goes on", func() error {
		c, err := root.HNC.HncV1beta1().HNCConfigurations().Get(t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		s, err := root.HNC.HncV1beta1().Subnamespaces("wipe").Get(t.Context(), "wipe-sub", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if meta.IsStatusConditionTrue(s.Status.Conditions, hnc.ConditionReady) {
			return nil
		}
		if pause := meta.FindStatusCondition(c.Status.Conditions, hnc.ConditionPropagationPaused); pause == nil || pause.Reason != hnc.ReasonHierarchiesLost {
			return fmt.Errorf("not ready, and not paused: %v", c.Status.Conditions)
		}
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, hnc.AnnotationTrust, c.TrustDecision(hnc.TrustHierarchies))
		_, err = root.CoreV1().Namespaces().Patch(t.Context(), hnc.SystemNamespace, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return errors.Join(errors.New("paused"), err)
	})
	eventuallyReady(t, "wipe", "wipe-sub")
	eventuallyReady(t, "wipe-sub", "wipe-leaf")
	for name, parent := range map[string]string{"wipe": "", "wipe-sub": "wipe", "wipe-leaf": "wipe-sub", "wipe-full": "wipe-sub", "wipe-mine": ""} {
		suite.Eventually(t, "the hierarchy of "+name+" is there", func() error {
			h, err := root.HNC.HncV1beta1().Hierarchies(name).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if (fmt.Sprint(h.Spec.AbstractAncestors) == "[wipe-dir wipe-top]") != (name == "wipe") || h.Spec.Parent != parent || (h.Spec.AllowCascadingDeletion != nil) != (name == "wipe") || (len(h.Spec.Labels) == 1) != (name == "wipe" || name == "wipe-full") {
				return fmt.Errorf("got %+v", h.Spec)
			}
			return nil
		})
	}
}

// The files of this package are tested in the order of their names: nothing comes after this one.
func TestLostHierarchiesAreRebuiltFromTheNamespaces(t *testing.T) {
	namespaces(t, "wipe", "wipe-full")
	if err := root.hierarchy(t, "wipe", func(s *v1beta1.HierarchySpec) {
		s.AbstractAncestors = []string{"wipe-dir", "wipe-top"}
		s.AllowCascadingDeletion, s.Labels = ptr.To(true), []v1beta1.MetaKVP{{Key: "team", Value: "blue"}}
	}); err != nil {
		t.Fatal(err)
	}
	for _, sub := range [][2]string{{"wipe", "wipe-sub"}, {"wipe-sub", "wipe-leaf"}} {
		if _, err := root.subnamespace(t, sub[0], sub[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := root.hierarchy(t, "wipe-full", func(s *v1beta1.HierarchySpec) {
		s.Parent, s.Labels = "wipe-sub", []v1beta1.MetaKVP{{Key: "desk", Value: "1"}}
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := root.RbacV1().RoleBindings("wipe").Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "wipe-viewers"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ancestryIs(t, "wipe-full", "wipe-full", "wipe-sub", "wipe", "wipe-dir", "wipe-top")
	for _, name := range wiped {
		suite.Eventually(t, "the copy in "+name, func() error {
			_, err := root.RbacV1().RoleBindings(name).Get(t.Context(), "wipe-viewers", metav1.GetOptions{})
			return err
		})
		suite.Eventually(t, "the labels of "+name, func() error {
			ns, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
			if err == nil && (ns.Labels["team"] != "blue" || ns.Labels[hnc.LabelCascadingDeletion] == "" || (ns.Labels["desk"] == "1") != (name == "wipe-full")) {
				err = fmt.Errorf("got %v", ns.Labels)
			}
			return err
		})
	}
	// An annotation is not evidence: anybody who may update the namespace has written it.
	mine := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "wipe-mine", Annotations: map[string]string{hnc.AnnotationSubnamespaceOf: "wipe"}}}
	if _, err := root.CoreV1().Namespaces().Create(t.Context(), mine, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyReports(t, "wipe-mine", hnc.ReasonSubnamespaceMissing)
	eventuallyRebuilt(t)
	before := steady(t, wiped...)

	t.Run("while the propagator runs", func(t *testing.T) {
		wipe(t)
		suite.Eventually(t, "the propagator ends", func() error {
			if cp.Running(propagator.Name) {
				return fmt.Errorf("it still runs")
			}
			return nil
		})
		unwritten(t, before, wiped...)
		stopped(t, func() {})
		eventuallyRebuilt(t)
	})
	t.Run("while it did not, and was interrupted when it rebuilt them", func(t *testing.T) {
		stopped(t, func() {
			wipe(t)
			if err := suite.SetRules(t.Context(), root.HNC, &v1beta1.Rules{ManagedNamespaceLabels: []string{"team|desk"}}); err != nil {
				t.Fatal(err)
			}
			h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: "wipe-sub", Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: "wipe"}}
			// Users wait for the rebuild: the empty tree says nothing about what they may do. Clients repeat such a
			// request.
			err := root.HNC.HncV1beta1().RESTClient().Post().Namespace("wipe-sub").Resource("hierarchies").Body(h).MaxRetries(0).Do(t.Context()).Error()
			if seconds, retry := apierrors.SuggestsClientDelay(err); !apierrors.IsServiceUnavailable(err) || !retry || seconds == 0 {
				t.Errorf("a write before the rebuild: %v", err)
			}
			config := cp.RESTConfig()
			config.Impersonate.UserName = hnc.PropagatorUser
			interrupted, err := clients("propagator", config)
			if err != nil {
				t.Fatal(err)
			}
			h.Annotations = map[string]string{hnc.AnnotationRestoring: "true"}
			if _, err := interrupted.HNC.HncV1beta1().Hierarchies("wipe-sub").Create(t.Context(), h, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			// The parent of its parent is not in the store yet, whose admins would be asked.
			err = root.HNC.HncV1beta1().RESTClient().Delete().Namespace("wipe-sub").Resource("hierarchies").Name(hnc.Singleton).MaxRetries(0).Do(t.Context()).Error()
			if !apierrors.IsServiceUnavailable(err) {
				t.Errorf("a deletion during the rebuild: %v", err)
			}
		})
		eventuallyRebuilt(t)
	})
	unwritten(t, before, wiped...)
}
