package policy

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// The error is immediate for everybody: the permissions of the administrator don't make an annotation readable.
func TestExceptionsAreReadWhenTheyAreWritten(t *testing.T) {
	ns := newNamespace(t, label(hnc.LabelIncludedNamespace, "true"), label(hnc.LabelInTree, "true"))
	ctx := t.Context()
	for name, test := range map[string]struct {
		annotations map[string]string
		message     string
	}{
		"O4 BAD-2 an unknown annotation":  {map[string]string{"propagate.hnc.x-k8s.io/treeselect": "a"}, "annotation propagate.hnc.x-k8s.io/treeselect of"},
		"O5 an operator that HNC rejects": {map[string]string{hnc.AnnotationSelect: "env!=prod"}, "write notin for !="},
		"O5 BAD-4 a selector of 10 kB":    {map[string]string{hnc.AnnotationSelect: strings.Repeat("a,", 5120)}, "has 10240 characters, more than 8192"},
		"O6 BAD-3 an empty item":          {map[string]string{hnc.AnnotationTreeSelect: "a,,b"}, "has an item that is not a namespace name"},
		"O6 two names":                    {map[string]string{hnc.AnnotationTreeSelect: "a,b"}, "names a and b"},
		"O7 none is a boolean":            {map[string]string{hnc.AnnotationNone: "yes"}, `must be "true" or "false"`},
		"O8 all is a boolean":             {map[string]string{hnc.AnnotationAll: "tRUE"}, `must be "true" or "false"`},
		"O9 BAD-1 two selectors at once":  {map[string]string{hnc.AnnotationSelect: "a", hnc.AnnotationTreeSelect: "b"}, "but only one of them is allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := func(object metav1.Object) { object.SetAnnotations(test.annotations) }
			for _, u := range []user{alice, admin} {
				_, err := u.CoreV1().ConfigMaps(ns).Create(ctx, configMap(ns, "bad", bad), metav1.CreateOptions{})
				invalid(t, err, "ConfigMap "+ns+"/bad", test.message)
				_, err = u.dynamic.Resource(widgets).Namespace(ns).Create(ctx, widget(ns, "bad", bad), metav1.CreateOptions{})
				invalid(t, err, "Widget "+ns+"/bad", test.message)
			}
			good := fmt.Sprintf("good-%d", names.Add(1))
			must(t)(alice.CoreV1().ConfigMaps(ns).Create(ctx, configMap(ns, good), metav1.CreateOptions{}))
			_, err := alice.CoreV1().ConfigMaps(ns).Patch(ctx, good, types.MergePatchType, merge(t, "annotations", test.annotations), metav1.PatchOptions{})
			invalid(t, err, "ConfigMap "+ns+"/"+good, test.message)
			// O1: nothing is propagated from there.
			must(t)(alice.CoreV1().ConfigMaps("kube-public").Create(ctx, configMap("kube-public", "bad", bad), metav1.CreateOptions{}))
			if err := alice.CoreV1().ConfigMaps("kube-public").Delete(ctx, "bad", metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// An invalid annotation that exists does not stop users who change the rest: a controller that takes its finalizer off,
// for instance.
func TestInvalidAnnotationsThatExistStay(t *testing.T) {
	ctx := t.Context()
	ns := newNamespace(t, label(hnc.LabelIncludedNamespace, "true"), label(hnc.LabelInTree, "true"))
	bad := func(object metav1.Object) {
		object.SetAnnotations(map[string]string{hnc.AnnotationTreeSelect: "a,", hnc.AnnotationAll: "true", "x.hnc.x-k8s.io/y": ""})
		object.SetFinalizers([]string{"example.com/hold"})
	}
	must(t)(propagator.CoreV1().ConfigMaps(ns).Create(ctx, configMap(ns, "invalid", bad), metav1.CreateOptions{}))
	must(t)(alice.CoreV1().ConfigMaps(ns).Patch(ctx, "invalid", types.MergePatchType, merge(t, "finalizers", nil), metav1.PatchOptions{}))
	_, err := alice.CoreV1().ConfigMaps(ns).Patch(ctx, "invalid", types.MergePatchType,
		merge(t, "annotations", map[string]any{hnc.AnnotationTreeSelect: "b,"}), metav1.PatchOptions{})
	invalid(t, err, "has an item that is not a namespace name")
	must(t)(alice.CoreV1().ConfigMaps(ns).Patch(ctx, "invalid", types.MergePatchType,
		merge(t, "annotations", map[string]any{hnc.AnnotationTreeSelect: nil}), metav1.PatchOptions{}))
}
