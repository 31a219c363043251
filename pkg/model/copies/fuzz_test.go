package copies

import (
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// FuzzContent checks that a source's copies are the same in JSON and in protobuf, and have the labels and annotations
// of the source except for those of the hierarchy.
func FuzzContent(f *testing.F) {
	f.Add("name", "a", "1", "b", "2")
	f.Add("", "", "", "", "")
	f.Add("a\"b", "dropped", "<&>", "hnc.x-k8s.io/inherited-from", "root")
	f.Add("ä", hnc.LabelManagedBy, "\u2028", hnc.AnnotationAllowOverride, "true")
	f.Add("\x00", "x.hnc.x-k8s.io/a", "\n", hnc.AnnotationSelect, "a in (b)")
	f.Add("kube-root-ca.crt", hnc.TreeLabel("a"), "0", hnc.AnnotationNone, "maybe")
	rules := &Rules{Labels: sets.New("dropped"), Annotations: sets.New("dropped")}
	f.Fuzz(func(t *testing.T, name, labelKey, label, annotationKey, annotation string) {
		for _, text := range []string{name, labelKey, label, annotationKey, annotation} {
			if !utf8.ValidString(text) {
				return // JSON cannot contain it.
			}
		}
		source := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Name: name, Namespace: "n", Labels: map[string]string{labelKey: label}, Annotations: map[string]string{annotationKey: annotation},
			},
			Data: map[string]string{labelKey: annotation},
		}
		byJSON, byProtobuf := read(t, source, rules)
		equal(t, byJSON, byProtobuf, &corev1.ConfigMap{})
		if !byJSON.Fit() {
			return
		}
		c := decoded(t, byProtobuf.content.body("", ""), &corev1.ConfigMap{}).(*corev1.ConfigMap)
		if c.Name != name || c.Data[labelKey] != annotation || c.Labels[hnc.LabelInheritedFrom] != "n" {
			t.Fatalf("the copy of %+v is %+v", source, c)
		}
		if _, copied := c.Labels[labelKey]; labelKey != hnc.LabelManagedBy && copied == (rules.dropsLabel(labelKey) || Internal(labelKey)) {
			t.Fatalf("label %q: copied %t", labelKey, copied)
		}
		if _, copied := c.Annotations[annotationKey]; annotationKey != hnc.AnnotationAllowOverride && copied == (rules.dropsAnnotation(annotationKey) || Internal(annotationKey)) {
			t.Fatalf("annotation %q: copied %t", annotationKey, copied)
		}
	})
}
