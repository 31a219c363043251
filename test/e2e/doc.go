// Package e2e tests the whole as users see it: kubectl against a real control plane with both servers and the admission
// policies installed. Each spec has namespaces of its own; what users may do comes from RBAC alone.
package e2e
