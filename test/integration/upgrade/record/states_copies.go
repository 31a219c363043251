package main

// finalized: mallory, admin of finalized-sub, keeps copies alive by finalizers. The source of revoked is gone.
func finalized(w *world) {
	w.namespaces("finalized-top")
	w.create(root, "{apiVersion: v1, kind: Secret, metadata: {namespace: finalized-top, name: revoked}, stringData: {token: example}}")
	for _, user := range []string{"granted", "revoked"} {
		w.bind(user, "view", "finalized-top")
	}
	w.bind("vera", "admin", "finalized-top")
	w.subnamespace("vera", "finalized-top", "finalized-sub")
	w.bind("mallory", "admin", "finalized-sub")
	const wait = `{"metadata":{"finalizers":["example.com/wait"]}}`
	w.patch("mallory", "rolebindings", "finalized-sub", "granted-view", wait)
	w.patch("mallory", "rolebindings", "finalized-sub", "revoked-view", wait)
	w.patch("mallory", "secrets", "finalized-sub", "revoked", wait)
	w.delete(root, "rolebindings", "finalized-top", "revoked-view")
	w.delete(root, "secrets", "finalized-top", "revoked")
	w.await("rolebindings", "finalized-sub", "revoked-view", terminating)
	w.await("secrets", "finalized-sub", "revoked", terminating)
}

// relabelled: mallory takes the label off a copy through its status, and owns it since.
func relabelled(w *world) {
	w.namespaces("relabelled-top")
	w.create(root, "{apiVersion: v1, kind: ResourceQuota, metadata: {namespace: relabelled-top, name: small}, spec: {hard: {pods: '1'}}}")
	w.bind("vera", "admin", "relabelled-top")
	w.subnamespace("vera", "relabelled-top", "relabelled-sub")
	w.bind("mallory", "quota-controller", "relabelled-sub")
	w.patch("mallory", "resourcequotas", "relabelled-sub", "small", `{"metadata":{"labels":{"hnc.x-k8s.io/inherited-from":null}}}`, "status")
	w.patch("mallory", "resourcequotas", "relabelled-sub", "small", `{"spec":{"hard":{"pods":"100"}}}`)
}

// named: mallory has taken a name that means something to others.
func named(w *world) {
	w.namespaces("named-top")
	w.bind("mallory", "edit", "named-top")
	w.subnamespace("mallory", "named-top", "argocd")
}

// fields: what v1alpha2's clients know nothing of.
func fields(w *world) {
	w.patch(root, "hncconfigurations", "", "config", `{"spec":{"creatorRole":"view"}}`)
	w.namespaces("fields-top")
	w.bind("vera", "admin", "fields-top")
	w.hierarchy(root, "fields-top", `{"requiredChildren":["fields-child"],"labels":[{"key":"team","value":"red"}],
		"namespaceLabels":[{"key":"desk","value":"1"}],"propagation":[{"group":"","resource":"configmaps","mode":"Propagate","onConflict":"Keep"}]}`)
	w.await("subnamespaces", "fields-top", "fields-child", ready)
	w.subnamespace("vera", "fields-top", "fields-sub")
	w.await("rolebindings", "fields-sub", "hnc-creator-fields-sub", exists)
}

// ending: a namespace that is being deleted waits for the finalizer of its hierarchy.
func ending(w *world) {
	w.namespaces("ending-top", "ending-child")
	w.bind("mallory", "admin", "ending-child")
	w.hierarchy(root, "ending-child", `{"parent":"ending-top"}`)
	w.patch("mallory", "hierarchies", "ending-child", "hierarchy", `{"metadata":{"finalizers":["example.com/wait"]}}`)
	w.delete(root, "namespaces", "", "ending-child")
	w.await("hierarchies", "ending-child", "hierarchy", terminating)
}

// absent: mallory binds the hierarchy of absent-child to a namespace that does not exist. The garbage collector has not seen it yet, so this
// comes last.
func absent(w *world) {
	w.namespaces("absent-top", "absent-child")
	w.bind("vera", "admin", "absent-top")
	w.bind("mallory", "admin", "absent-child")
	w.hierarchy(root, "absent-child", `{"parent":"absent-top"}`)
	w.await("rolebindings", "absent-child", "vera-admin", exists)
	w.stop("kube-controller-manager")
	w.patch("mallory", "hierarchies", "absent-child", "hierarchy", `{"metadata":{"ownerReferences":[
		{"apiVersion":"v1","kind":"Namespace","name":"absent-none","uid":"00000000-0000-0000-0000-000000000000"}]}}`)
	w.await("rolebindings", "absent-child", "vera-admin", gone)
}
