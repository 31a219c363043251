// Package gateway serves the views of TenantViews to everybody who may use them, behind kube-apiserver as an aggregated
// API, or on its own port.
//
// It authenticates callers as any aggregated API server does, requires the permission on the subresource proxy of the
// TenantView, and sends their requests to kube-apiserver by constrained impersonation: with no permission to
// impersonate beyond the subtrees of TenantViews, where hns-propagator grants it. It stores nothing.
package gateway
