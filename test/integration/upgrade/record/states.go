package main

import "fmt"

// state is something that a cluster can be in. Its namespaces begin with its name.
type state struct {
	name string
	make func(*world)
}

// states are made in this order. mallory is the tenant who wants more; the others work.
var states = []state{
	{"rights", rights},
	{"shop", shop},
	{"claimed", claimed},
	{"joined", joined},
	{"unheld", unheld},
	{"foreign", foreign},
	{"restricted", restricted},
	{"left", left},
	{"converted", converted},
	{"bomb", bomb},
	{"early", early},
	{"finalized", finalized},
	{"relabelled", relabelled},
	{"named", named},
	{"fields", fields},
	{"ending", ending},
	{"absent", absent},
}

// rights are ClusterRoles besides Kubernetes' own, and the kinds that are propagated.
func rights(w *world) {
	w.create(root, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: namespace-editor}
rules: [{apiGroups: [""], resources: [namespaces], verbs: [get, patch, update]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: quota-controller}
rules: [{apiGroups: [""], resources: [resourcequotas, resourcequotas/status], verbs: [get, patch, update]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: namespace-creator}
rules: [{apiGroups: [""], resources: [namespaces], verbs: [create]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: namespace-creator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: namespace-creator}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: nora}]
`)
	w.await("hncconfigurations", "", "config", exists)
	w.patch(root, "hncconfigurations", "", "config", `{"spec":{"resources":[
		{"group":"","resource":"secrets","mode":"Propagate"},
		{"group":"networking.k8s.io","resource":"networkpolicies","mode":"Propagate"},
		{"group":"","resource":"resourcequotas","mode":"Propagate","onConflict":"Keep"}]}}`)
}

// shop is a tree in ordinary use: nothing in it may be written by an upgrade.
func shop(w *world) {
	w.namespaces("shop", "shop-data")
	w.bind("olga", "admin", "shop")
	w.create(root, `
apiVersion: v1
kind: Secret
metadata: {namespace: shop, name: registry}
stringData: {token: example}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {namespace: shop, name: pod-reader}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {namespace: shop, name: same-namespace}
spec: {podSelector: {}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {}}]}]}
`)
	w.hierarchy("olga", "shop", `{"labels":[{"key":"team","value":"blue"}]}`)
	w.subnamespace("olga", "shop", "shop-web")
	w.subnamespace("olga", "shop", "shop-api")
	w.subnamespace("olga", "shop-api", "shop-test")
	w.hierarchy("olga", "shop-api", `{"allowCascadingDeletion":true}`)
	w.hierarchy(root, "shop-data", `{"parent":"shop"}`)
	w.await("rolebindings", "shop-data", "olga-admin", exists)
	w.await("secrets", "shop-test", "registry", exists)
}

// claimed: the parent of claimed-orphan is deleted, and mallory claims its name with edit in claimed-evil. The name of claimed-missing's
// parent is free still.
func claimed(w *world) {
	w.namespaces("claimed-evil", "claimed-parent", "claimed-orphan", "claimed-lost", "claimed-missing")
	w.bind("mallory", "edit", "claimed-evil")
	w.bind("vera", "admin", "claimed-orphan")
	w.bind("vera", "admin", "claimed-missing")
	w.hierarchy(root, "claimed-orphan", `{"parent":"claimed-parent"}`)
	w.hierarchy(root, "claimed-missing", `{"parent":"claimed-lost"}`)
	w.await("namespaces", "", "claimed-missing", labelled("claimed-lost.tree.hnc.x-k8s.io/depth"))
	for _, name := range []string{"claimed-parent", "claimed-lost"} {
		w.delete(root, "namespaces", "", name)
		w.await("namespaces", "", name, gone)
	}
	w.subnamespace("mallory", "claimed-evil", "claimed-parent")
	w.await("rolebindings", "claimed-orphan", "mallory-edit", exists)
}

// joined: mallory's annotation makes joined-mine inherit from joined-victim.
func joined(w *world) {
	w.namespaces("joined-victim", "joined-mine")
	w.create(root, "{apiVersion: v1, kind: Secret, metadata: {namespace: joined-victim, name: credentials}, stringData: {token: example}}")
	w.bind("mallory", "admin", "joined-mine")
	w.bind("mallory", "namespace-editor", "joined-mine")
	w.patch("mallory", "namespaces", "", "joined-mine", `{"metadata":{"annotations":{"hnc.x-k8s.io/subnamespace-of":"joined-victim"}}}`)
	w.await("secrets", "joined-mine", "credentials", exists)
}

// unheld: the Subnamespace of unheld-sub is deleted past its finalizer, by mallory with edit in its parent.
func unheld(w *world) {
	w.namespaces("unheld-top")
	w.bind("mallory", "edit", "unheld-top")
	w.bind("vera", "admin", "unheld-top")
	w.subnamespace("mallory", "unheld-top", "unheld-sub")
	w.await("subnamespaces", "unheld-top", "unheld-sub", ready)
	w.patch("mallory", "subnamespaces", "unheld-top", "unheld-sub", `{"metadata":{"finalizers":null}}`)
	w.delete("mallory", "subnamespaces", "unheld-top", "unheld-sub")
	w.await("namespaces", "", "unheld-sub", labelled("hnc.x-k8s.io/orphaned"))
}

// foreign: mallory binds the hierarchy of foreign-child, and the Subnamespace foreign-sub, to another namespace.
func foreign(w *world) {
	w.namespaces("foreign-top", "foreign-child", "foreign-other")
	w.bind("vera", "admin", "foreign-top")
	w.bind("mallory", "edit", "foreign-top")
	w.bind("mallory", "admin", "foreign-child")
	w.hierarchy(root, "foreign-top", `{"labels":[{"key":"team","value":"policy"}]}`)
	w.hierarchy(root, "foreign-child", `{"parent":"foreign-top"}`)
	w.subnamespace("mallory", "foreign-top", "foreign-sub")
	w.await("namespaces", "", "foreign-child", labelled("team"))
	owner := fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":"foreign-other","uid":%q}]}}`, w.uid("foreign-other"))
	w.patch("mallory", "hierarchies", "foreign-child", "hierarchy", owner)
	w.patch("mallory", "subnamespaces", "foreign-top", "foreign-sub", owner)
	w.await("namespaces", "", "foreign-child", unlabelled("team"))
	w.await("rolebindings", "foreign-child", "vera-admin", gone)
}

// restricted: sub-namespaces have none of their parent's Pod Security labels.
func restricted(w *world) {
	w.create(root, `
apiVersion: v1
kind: Namespace
metadata:
  name: restricted-top
  labels: {pod-security.kubernetes.io/enforce: restricted, pod-security.kubernetes.io/warn: restricted}
`)
	w.bind("mallory", "edit", "restricted-top")
	w.subnamespace("mallory", "restricted-top", "restricted-sub")
	w.subnamespace("mallory", "restricted-top", "restricted-own")
	w.patch(root, "namespaces", "", "restricted-own", `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline"}}}`)
}

// left: mallory, admin of left-sub, has made a root of it by removing the annotation and deleting the hierarchy.
func left(w *world) {
	w.namespaces("left-top")
	w.bind("vera", "admin", "left-top")
	w.subnamespace("vera", "left-top", "left-sub")
	w.bind("mallory", "admin", "left-sub")
	w.bind("mallory", "namespace-editor", "left-sub")
	w.patch("mallory", "namespaces", "", "left-sub", `{"metadata":{"annotations":{"hnc.x-k8s.io/subnamespace-of":null}}}`)
	w.await("subnamespaces", "left-top", "left-sub", conflicting)
	w.delete("mallory", "hierarchies", "left-sub", "hierarchy")
	w.await("rolebindings", "left-sub", "vera-admin", gone)
}

// converted: converted-sub is made a full namespace by removing its annotation, as HNC's users do. Its Subnamespace stays.
func converted(w *world) {
	w.namespaces("converted-top")
	w.bind("vera", "admin", "converted-top")
	w.bind("vera", "namespace-editor", "converted-top")
	w.subnamespace("vera", "converted-top", "converted-sub")
	w.patch("vera", "namespaces", "", "converted-sub", `{"metadata":{"annotations":{"hnc.x-k8s.io/subnamespace-of":null}}}`)
	w.await("subnamespaces", "converted-top", "converted-sub", conflicting)
	w.await("rolebindings", "converted-sub", "vera-admin", exists)
}

// bomb: the hierarchy of bomb-child terminates with a finalizer of mallory's, and has got a parent since.
func bomb(w *world) {
	w.namespaces("bomb-top", "bomb-child")
	w.bind("vera", "admin", "bomb-top")
	w.bind("mallory", "admin", "bomb-child")
	w.hierarchy("mallory", "bomb-child", `{}`)
	w.patch("mallory", "hierarchies", "bomb-child", "hierarchy", `{"metadata":{"finalizers":["example.com/wait"]}}`)
	w.delete("mallory", "hierarchies", "bomb-child", "hierarchy")
	w.hierarchy(root, "bomb-child", `{"parent":"bomb-top"}`)
	w.await("rolebindings", "bomb-child", "vera-admin", exists)
}

// early: nora, who may create namespaces, names a parent that does not exist.
func early(w *world) {
	w.namespaces("early-child")
	w.bind("nora", "admin", "early-child")
	w.hierarchy("nora", "early-child", `{"parent":"early-future"}`)
	w.await("hierarchies", "early-child", "hierarchy", condition("ActivitiesHalted"))
}
