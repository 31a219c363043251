package admissionpolicy

// Validating returns the names of the ValidatingAdmissionPolicies of an installation, in order. Their bindings have the
// same names.
func Validating() []string {
	return []string{
		"copies.hnc.x-k8s.io", "exceptions.hnc.x-k8s.io", "external-namespaces.hnc.x-k8s.io", "included-namespace.hnc.x-k8s.io",
		"namespace-deletion.hnc.x-k8s.io", "repositories.hnc.x-k8s.io", "resource-quota-names.hnc.x-k8s.io",
		"resource-quotas.hnc.x-k8s.io", "tree-labels.hnc.x-k8s.io", "view-definitions.hnc.x-k8s.io", "view-grants.hnc.x-k8s.io",
	}
}

// Mutating returns the names of the MutatingAdmissionPolicies, and of their bindings.
func Mutating() []string { return []string{"included-namespace.hnc.x-k8s.io"} }
