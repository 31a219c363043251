package admissionpolicy

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func copiesRows() []row {
	theCopy := func(options ...option) *rbacv1.Role { return role(append([]option{copyOf("acme")}, options...)...) }
	allows, asks := annotation(hnc.AnnotationAllowOverride, "true"), annotation(hnc.AnnotationOverride, "true")
	otherRules := func(object metav1.Object) { object.(*rbacv1.Role).Rules[0].Verbs = []string{"*"} }
	noRules := func(object metav1.Object) { object.(*rbacv1.Role).Rules = nil }
	housekeeping := func(object metav1.Object) {
		object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: types.UID("1")}})
		object.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "somebody"}})
		object.SetResourceVersion("8")
		object.SetGeneration(2)
	}
	generated := func(object metav1.Object) { object.SetGenerateName("reader-") }
	held := func(object metav1.Object) { object.SetFinalizers([]string{"example.com/hold"}) }
	heldTwice := func(object metav1.Object) { object.SetFinalizers([]string{"example.com/hold", "example.com/more"}) }
	noFinalizer := "Role team-a/reader is inherited from namespace acme, and a finalizer would keep what it grants when it is deleted there"
	widgetCopy := func(options ...option) *unstructured.Unstructured {
		return widget(append([]option{copyOf("acme")}, options...)...)
	}
	field := func(value any, path ...string) option {
		return func(object metav1.Object) {
			if err := unstructured.SetNestedField(object.(*unstructured.Unstructured).Object, value, path...); err != nil {
				panic(err)
			}
		}
	}
	secret := func(value string) *corev1.Secret {
		secret := &corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "token"},
			Data:       map[string][]byte{"key": []byte(value)},
		}
		copyOf("acme")(secret)
		return secret
	}
	// Close to the size limit and with many keys, because evaluation has a cost budget.
	big := func(last string) *corev1.ConfigMap {
		data := map[string]string{"last": last}
		for i := range 10_000 {
			data[fmt.Sprintf("key-%d", i)] = strings.Repeat("x", 90)
		}
		big := &corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "big"},
			Data:       data,
		}
		copyOf("acme")(big)
		return big
	}
	changeIt := "Role team-a/reader is inherited from namespace acme: change it there, in namespace acme"
	rows := []row{
		{name: "C2 O3 copies: the propagator creates one", request: request{user: hnc.PropagatorUser, object: theCopy()}},
		{name: "C2 O3 copies: the propagator changes one", request: request{user: hnc.PropagatorUser, object: theCopy(otherRules), old: theCopy()}},
		{name: "C2 O3 copies: the propagator takes over an object", request: request{user: hnc.PropagatorUser, object: theCopy(), old: role()}},
		{name: "C2 O3 copies: the propagator deletes one", request: request{user: hnc.PropagatorUser, old: theCopy()}},

		{name: "O11 copies: own objects are created", request: request{object: role()}},
		{name: "O11 copies: own objects are changed", request: request{object: role(otherRules, label("a", "b")), old: role()}},
		{name: "O11 copies: own objects are deleted", request: request{old: role()}},

		{name: "O12 copies: nobody else creates one", request: request{object: theCopy()},
			denied: "Role team-a/reader would be a copy, and only the propagator creates copies: leave out its label " +
				"hnc.x-k8s.io/inherited-from, or create it in namespace acme"},
		{name: "O12 copies: an empty value makes a copy, too", request: request{object: role(label(hnc.LabelInheritedFrom, ""))},
			denied: "Role team-a/reader would be a copy"},
		{name: "O16 copies: an own object does not become one", request: request{object: theCopy(), old: role()},
			denied: "Role team-a/reader is not inherited, so it cannot get label hnc.x-k8s.io/inherited-from"},
		{name: "O16 copies: the source is not changed", request: request{object: role(copyOf("team-b")), old: theCopy()},
			denied: "Role team-a/reader is inherited from namespace acme, so its label hnc.x-k8s.io/inherited-from stays"},
		{name: "O16 copies: none becomes an own object", request: request{object: role(), old: theCopy()},
			denied: "Role team-a/reader is inherited from namespace acme, so its label hnc.x-k8s.io/inherited-from stays"},

		{name: "O19 copies: nothing changed is no change", request: request{object: theCopy(), old: theCopy()}},
		{name: "O19 copies: controllers' fields are free", request: request{object: theCopy(housekeeping), old: theCopy()}},
		{name: "O19 copies: controllers' fields are free to clear", request: request{object: theCopy(), old: theCopy(housekeeping)}},
		{name: "copies: of Roles, finalizers are not added", request: request{object: theCopy(held), old: theCopy()}, denied: noFinalizer},
		{name: "copies: of Roles, no second finalizer is added", request: request{object: theCopy(heldTwice), old: theCopy(held)}, denied: noFinalizer},
		{name: "copies: of Roles, none is added while their namespace goes", denied: "and a finalizer would keep",
			request: request{object: theCopy(inNamespace("ending"), held), old: theCopy(inNamespace("ending"))}},
		{name: "copies: of Roles, finalizers that are there stay", request: request{object: theCopy(held, housekeeping), old: theCopy(held)}},
		{name: "copies: of Roles, finalizers are removed", request: request{object: theCopy(held), old: theCopy(heldTwice)}},
		{name: "copies: of Roles, an own object has finalizers", request: request{object: role(held), old: role()}},
		{name: "copies: of Roles, an override has finalizers", request: request{object: role(asks, held), old: theCopy(allows)}},
		{name: "O19 copies: no rules are no rules", request: request{object: theCopy(noRules, housekeeping), old: theCopy(noRules)}},
		{name: "O17 copies: content stays", request: request{object: theCopy(otherRules), old: theCopy()}, denied: changeIt},
		{name: "O17 copies: content is not cleared", request: request{object: theCopy(noRules), old: theCopy()}, denied: changeIt},
		{name: "O18 copies: labels are not added", request: request{object: theCopy(label("a", "b")), old: theCopy()}, denied: changeIt},
		{name: "O18 copies: labels are not removed", request: request{object: theCopy(), old: theCopy(label("a", "b"))}, denied: changeIt},
		{name: "O18 copies: annotations are not added", request: request{object: theCopy(annotation("a", "b")), old: theCopy()}, denied: changeIt},
		{name: "O18 copies: annotations are not changed", denied: changeIt,
			request: request{object: theCopy(annotation("a", "b")), old: theCopy(annotation("a", "c"))}},
		{name: "O18 copies: annotations are not removed", request: request{object: theCopy(), old: theCopy(annotation("a", "b"))}, denied: changeIt},
		{name: "copies: nobody gives one a generateName", request: request{object: theCopy(generated), old: theCopy()}, denied: changeIt},
		{name: "copies: a generateName that is there stays", request: request{object: theCopy(generated, housekeeping), old: theCopy(generated)}},
		{name: "copies: a status update leaves labels alone", denied: changeIt,
			request: request{subresource: "status", object: theCopy(label("a", "b")), old: theCopy()}},
		{name: "copies: a status update leaves annotations alone", denied: changeIt,
			request: request{subresource: "status", object: theCopy(annotation("a", "b")), old: theCopy()}},
		{name: "copies: a status update does not make a copy", request: request{subresource: "status", object: theCopy(), old: role()},
			denied: "Role team-a/reader is not inherited, so it cannot get label hnc.x-k8s.io/inherited-from"},
		{name: "copies: of custom resources, the status subresource is free",
			request: request{subresource: "status", object: widgetCopy(field("Broken", "status", "phase")), old: widgetCopy()}},
		{name: "copies: what is created by a subresource is not a copy", request: request{subresource: "token", object: theCopy()}},
		{name: "copies: not by the name of a system component either", denied: changeIt,
			request: request{user: "system:admin", object: theCopy(otherRules), old: theCopy()}},
		{name: "copies: nor by another ServiceAccount of ours", denied: changeIt,
			request: request{user: "system:serviceaccount:hns-system:hns-apiserver", object: theCopy(otherRules), old: theCopy()}},

		{name: "copies: an override replaces one", request: request{object: role(asks, otherRules), old: theCopy(allows)}},
		{name: "copies: an override is an own object", request: request{object: role(otherRules), old: role(asks)}},
		{name: "copies: an override has no label", request: request{object: theCopy(allows, asks), old: theCopy(allows)},
			denied: changeIt + ", or replace it by an object without label hnc.x-k8s.io/inherited-from and with annotation hnc.x-k8s.io/override: \"true\""},
		{name: "copies: an override says that it is one", request: request{object: role(), old: theCopy(allows)},
			denied: "stays: change or delete the object in namespace acme, or replace it by an object without label"},
		{name: "copies: an override asks for it with true", request: request{object: role(annotation(hnc.AnnotationOverride, "false")), old: theCopy(allows)},
			denied: "so its label hnc.x-k8s.io/inherited-from stays"},
		{name: "copies: no override where the source does not allow it", request: request{object: role(asks), old: theCopy()},
			denied: "so its label hnc.x-k8s.io/inherited-from stays"},
		{name: "copies: an override does not allow itself", request: request{object: role(asks, allows), old: theCopy()},
			denied: "so its label hnc.x-k8s.io/inherited-from stays"},
		{name: "copies: an override is not a copy of another source", request: request{object: role(copyOf("team-b"), asks), old: theCopy(allows)},
			denied: "so its label hnc.x-k8s.io/inherited-from stays"},

		{name: "O17 copies: secrets are compared by content", request: request{object: secret("b"), old: secret("a")}, denied: "change it there"},
		{name: "O19 copies: equal secrets are equal", request: request{object: secret("a"), old: secret("a")}},
		{name: "O17 copies: big ones are compared", request: request{object: big("b"), old: big("a")}, denied: "change it there"},
		{name: "O19 copies: big ones can be equal", request: request{object: big("a"), old: big("a")}},
		{name: "O19 copies: of custom resources, status is free", request: request{object: widgetCopy(field("Broken", "status", "phase")), old: widgetCopy()}},
		{name: "O19 copies: of custom resources, controllers' fields are free", request: request{object: widgetCopy(housekeeping, held), old: widgetCopy()}},
		{name: "O17 copies: of custom resources, spec stays", request: request{object: widgetCopy(field(int64(13), "spec", "teeth")), old: widgetCopy()},
			denied: "Widget team-a/cog is inherited from namespace acme: change it there"},
		{name: "O17 copies: of custom resources, nothing is added", request: request{object: widgetCopy(field("x", "data")), old: widgetCopy()},
			denied: "change it there"},
		{name: "O17 copies: of custom resources, nothing is removed", request: request{object: widgetCopy(), old: widgetCopy(field("x", "data"))},
			denied: "change it there"},

		{name: "O14 copies: they are deleted where they come from", request: request{old: theCopy()},
			denied: "Role team-a/reader is inherited from namespace acme: delete it there, in namespace acme"},
		{name: "O14 copies: not with a collection either", request: request{old: theCopy(), collection: true},
			denied: "Role team-a/reader is inherited from namespace acme: delete it there, in namespace acme"},
		{name: "O13 copies: they go with their namespace", request: request{user: namespaceController, old: theCopy(inNamespace("ending"))}},
		{name: "O13 copies: they go with their namespace in a collection",
			request: request{user: namespaceController, old: theCopy(inNamespace("ending")), collection: true}},
		{name: "copies: tenants do not delete them while their namespace goes", request: request{old: theCopy(inNamespace("ending"))},
			denied: "delete it there, in namespace acme, or wait until Kubernetes deletes it with namespace ending"},
		{name: "copies: users allowed to delete their namespace do not delete them while it stays", denied: "delete it there, in namespace acme",
			request: request{user: namespaceController, old: theCopy()}},
		{name: "copies: owners are not added while their namespace goes", denied: "and gets no owners while namespace ending is being deleted",
			request: request{object: theCopy(inNamespace("ending"), housekeeping), old: theCopy(inNamespace("ending"))}},
		{name: "copies: owners are removed while their namespace goes",
			request: request{object: theCopy(inNamespace("ending")), old: theCopy(inNamespace("ending"), housekeeping)}},
		{name: "copies: an override has owners while its namespace goes",
			request: request{object: role(inNamespace("ending"), asks, housekeeping), old: theCopy(inNamespace("ending"), allows)}},
		{name: "O17 copies: they stay as they are while their namespace goes", denied: "is inherited from namespace acme: change it there",
			request: request{object: theCopy(inNamespace("ending"), otherRules), old: theCopy(inNamespace("ending"))}},
	}
	for _, excluded := range hnc.ExcludedNamespaces {
		rows = append(rows,
			row{name: "O1 copies: none are in " + excluded + ", so all is free there", request: request{object: theCopy(inNamespace(excluded))}})
	}
	return append(rows, ofServicesRows(hnc.LabelInheritedFrom)...)
}
