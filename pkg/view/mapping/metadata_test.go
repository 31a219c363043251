package mapping

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// What is read of a namespace and written back is what is stored, although the view shows a part of it.
func TestHiddenMetadataOfANamespaceIsKept(t *testing.T) {
	m, kind := testMapper(), kindOf("v1", "Namespace")
	stored := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "acme-prod",
		Labels: map[string]string{
			"app": "x", labelName: "acme-prod", hnc.TreeLabel("acme-prod"): "0", hnc.TreeLabel("acme"): "1", hnc.TreeLabel("companies"): "2",
		},
		Annotations: map[string]string{"a": "b", hnc.AnnotationAncestry: "acme-prod.acme.companies", hnc.AnnotationAbstractAncestors: "companies"},
	}}
	text, err := json.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []Direction{Out, In} {
		if text, err = m.Object(to, kind, text); err != nil {
			t.Fatal(err)
		}
	}
	var written corev1.Namespace
	if err := json.Unmarshal(text, &written); err != nil {
		t.Fatal(err)
	}
	if len(written.Labels) == len(stored.Labels) {
		t.Error("the view hides nothing")
	}
	if m.KeepHidden(&written, stored); !apiequality.Semantic.DeepEqual(&written, stored) {
		t.Errorf("got %v\nwant %v", written.ObjectMeta, stored.ObjectMeta)
	}
}
