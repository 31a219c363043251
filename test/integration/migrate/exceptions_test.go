package migrate

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// exceptions are ConfigMaps of the root with an annotation, and the namespaces that HNC has copied them to.
var exceptions = []struct {
	name, annotation, value string
	copies                  func(m member) bool
}{
	{"kept", hnc.AnnotationNone, "true", func(member) bool { return false }},
	{"selected", hnc.AnnotationSelect, descendant + hnc.LabelTreeSuffix + "=0", func(m member) bool { return m.name == descendant }},
	{"in-the-tree", hnc.AnnotationTreeSelect, "lonely", func(m member) bool { return m.name == "lonely" }},
}

func createExceptions(t *testing.T, m member, meta func(string) metav1.ObjectMeta) error {
	for _, e := range exceptions {
		if m.name != root && !e.copies(m) {
			continue
		}
		object := &corev1.ConfigMap{ObjectMeta: meta(e.name)}
		if m.name == root {
			object.Annotations = map[string]string{e.annotation: e.value} // Copies have none.
		}
		if _, err := admin.CoreV1().ConfigMaps(m.name).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// excepted checks that objects with exceptions have no copies elsewhere.
func excepted(t *testing.T, members []member) {
	t.Helper()
	for _, e := range exceptions {
		for _, m := range members {
			_, err := admin.CoreV1().ConfigMaps(m.name).Get(t.Context(), e.name, metav1.GetOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				t.Fatal(err)
			}
			if want := m.name == root || e.copies(m); (err == nil) != want {
				t.Errorf("configmap %s in %s: exists %t, want %t", e.name, m.name, err == nil, want)
			}
		}
	}
}
