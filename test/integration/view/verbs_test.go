package view

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applyrbacv1 "k8s.io/client-go/applyconfigurations/rbac/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// Each way to write a reference stores the real name, and answers with that of the view.
func TestEachWriteTranslatesReferences(t *testing.T) {
	tn := newTenant(t, "verbs").relative(t)
	child(t, "verbs-a", tn.root)
	api := tn.view.RbacV1().RoleBindings("a")
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"}
	subject := func(ns string) rbacv1.Subject {
		return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: ns, Name: "robot"}
	}
	suite.Must(t, "create", func() error {
		_, err := api.Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "b"}, RoleRef: role, Subjects: []rbacv1.Subject{subject("a")}}, metav1.CreateOptions{})
		return err
	})
	stored := func() string {
		b, err := admin.RbacV1().RoleBindings("verbs-a").Get(t.Context(), "b", metav1.GetOptions{})
		must(t, "stored", err)
		return b.Subjects[0].Namespace
	}
	patch := func(kind types.PatchType, body string) func() (*rbacv1.RoleBinding, error) {
		return func() (*rbacv1.RoleBinding, error) {
			return api.Patch(t.Context(), "b", kind, []byte(body), metav1.PatchOptions{})
		}
	}
	for _, write := range []struct {
		name string
		// view and cluster are the names of the namespace of the subject afterwards.
		view, cluster string
		do            func() (*rbacv1.RoleBinding, error)
	}{
		{"a merge patch", "default", "verbs", patch(types.MergePatchType, `{"subjects":[{"kind":"ServiceAccount","name":"robot","namespace":"default"}]}`)},
		{"a strategic patch", "a", "verbs-a", patch(types.StrategicMergePatchType, `{"subjects":[{"kind":"ServiceAccount","name":"robot","namespace":"a"}]}`)},
		{"a JSON patch of a value", "default", "verbs", patch(types.JSONPatchType, `[{"op":"test","path":"/metadata/namespace","value":"a"},{"op":"replace","path":"/subjects/0/namespace","value":"default"}]`)},
		{"a JSON patch of a subtree", "kube-system", "kube-system", patch(types.JSONPatchType, `[{"op":"replace","path":"/subjects","value":[{"kind":"ServiceAccount","name":"robot","namespace":"kube-system"}]}]`)},
		{"an update", "a", "verbs-a", func() (*rbacv1.RoleBinding, error) {
			b, err := api.Get(t.Context(), "b", metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			b.Subjects[0].Namespace = "a"
			return api.Update(t.Context(), b, metav1.UpdateOptions{})
		}},
		{"server-side apply", "argocd.external", "argocd", func() (*rbacv1.RoleBinding, error) {
			b := applyrbacv1.RoleBinding("b", "a").WithRoleRef(applyrbacv1.RoleRef().WithAPIGroup(role.APIGroup).WithKind(role.Kind).WithName(role.Name)).
				WithSubjects(applyrbacv1.Subject().WithKind("ServiceAccount").WithName("robot").WithNamespace("argocd.external"))
			return api.Apply(t.Context(), b, metav1.ApplyOptions{FieldManager: "test", Force: true})
		}},
	} {
		b, err := write.do()
		if err != nil || b.Namespace != "a" || b.Subjects[0].Namespace != write.view || stored() != write.cluster {
			t.Errorf("%s: %v; answered %v, stored %s, want %s and %s", write.name, err, b, stored(), write.view, write.cluster)
		}
	}
}

// Pages of a list across the view are complete, and their tokens are good for nothing else.
func TestPagesAcrossAView(t *testing.T) {
	tn := newTenant(t, "pages").relative(t)
	child(t, "pages-a", tn.root)
	for i := range 3 {
		configMap(t, tn.view, "default", fmt.Sprint("d", i))
		configMap(t, tn.view, "a", fmt.Sprint("a", i))
	}
	var got []string
	options := metav1.ListOptions{LabelSelector: "test", Limit: 2}
	for {
		list, err := tn.view.CoreV1().ConfigMaps("").List(t.Context(), options)
		must(t, "list", err)
		for _, cm := range list.Items {
			got = append(got, cm.Namespace+"/"+cm.Name)
		}
		if options.Continue = list.Continue; options.Continue == "" {
			break
		}
	}
	if want := "default/d0 default/d1 default/d2 a/a0 a/a1 a/a2"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	list, err := tn.view.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{LabelSelector: "test", FieldSelector: "metadata.namespace=a"})
	must(t, "list", err)
	if len(list.Items) != 3 || list.Items[0].Namespace != "a" {
		t.Errorf("got %d of the namespace", len(list.Items))
	}
	must(t, "delete", tn.view.CoreV1().ConfigMaps("a").DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "test"}))
	if left, err := admin.CoreV1().ConfigMaps("pages-a").List(t.Context(), metav1.ListOptions{LabelSelector: "test"}); err != nil || len(left.Items) != 0 {
		t.Errorf("left: %d, %v", len(left.Items), err)
	}
	if _, err := tn.view.CoreV1().Pods("a").Create(t.Context(), &corev1.Pod{}, metav1.CreateOptions{}); err == nil || strings.Contains(err.Error(), "pages") {
		t.Errorf("an error in the view: %v", err)
	}
}
