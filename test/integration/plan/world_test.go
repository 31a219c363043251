package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// world is a forest with objects, all of it at random.
type world struct {
	*rand.Rand
	prefix  string
	names   []string
	parents map[string]string
	// all sums up what was planned and has happened.
	all *v1alpha3.PlanSummary
}

func (w *world) one(of ...string) string { return of[w.IntN(len(of))] }

// roots are the namespaces without a parent.
func (w *world) roots() []string {
	return slices.DeleteFunc(slices.Clone(w.names), func(name string) bool { return w.parents[name] != "" })
}

// below says whether a namespace is another one or below it.
func (w *world) below(name, other string) bool {
	for ; name != ""; name = w.parents[name] {
		if name == other {
			return true
		}
	}
	return false
}

func newWorld(t *testing.T, r *rand.Rand, prefix string) *world {
	t.Helper()
	w := &world{Rand: r, prefix: prefix, parents: map[string]string{}}
	for i := range members {
		name := fmt.Sprintf("%s%d", prefix, i)
		parent := ""
		if i > 0 && w.IntN(2) > 0 {
			parent = w.one(w.names...)
		}
		namespace(t, name, parent)
		w.names, w.parents[name] = append(w.names, name), parent
		for range 2 + w.IntN(5) {
			w.object(t, name)
		}
	}
	return w
}

// object makes an object in a namespace, unless one of that name is there: it may be a copy.
func (w *world) object(t *testing.T, namespace string) {
	t.Helper()
	m := metav1.ObjectMeta{Namespace: namespace, Name: w.one("a", "b", "c", "d", "e", "f"), Annotations: map[string]string{}}
	switch w.IntN(9) {
	case 0:
		m.Annotations[hnc.AnnotationNone] = "true"
	case 1:
		m.Annotations[hnc.AnnotationTreeSelect] = w.one(w.names[0], "!"+w.names[0])
	case 2:
		m.Annotations[hnc.AnnotationSelect] = w.one("", "!") + hnc.TreeLabel(w.one(w.names...))
	case 3:
		m.Annotations[hnc.AnnotationAll] = "true"
	}
	value := fmt.Sprint(w.IntN(1000))
	suite.Must(t, "object", func() error {
		var err error
		switch w.IntN(3) {
		case 0:
			_, err = alice.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: m, Data: map[string]string{"value": value}}, metav1.CreateOptions{})
		case 1:
			_, err = alice.CoreV1().Secrets(namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: m, StringData: map[string]string{"value": value}}, metav1.CreateOptions{})
		default:
			b := binding(namespace, m.Name, w.one("view", "edit"), w.one("ann", "bob"), "cat")
			b.Annotations = m.Annotations
			_, err = alice.RbacV1().RoleBindings(namespace).Create(t.Context(), b, metav1.CreateOptions{})
		}
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

// converged returns the state when nothing is left to be done: when a plan that changes nothing is empty for each tree.
func (w *world) converged(t *testing.T) snapshot {
	t.Helper()
	for _, root := range w.roots() {
		suite.EventuallyEqual(t, "what is to be done below "+root, "{0 0 0 0 0 0 0 true}", func() string {
			status, err := ask(t, alice, root, v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent}, 0)
			if err != nil {
				return err.Error()
			}
			s := status.Summary
			return fmt.Sprint(struct {
				Deleted, Orphaned, Added, Changed, Overwritten, Removed, Refused int
				Known                                                            bool
			}{int(s.Deleted), int(s.Orphaned), int(s.Added), int(s.Changed), int(s.Overwritten), int(s.Removed), len(status.Refusals), status.Unknown == nil})
		})
	}
	return look(t, w.prefix)
}
