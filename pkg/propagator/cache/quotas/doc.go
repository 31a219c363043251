// Package quotas holds the HierarchicalResourceQuotas of a cluster and the ResourceQuotas that enforce them, and says
// which limits apply to a namespace. It is pure, and not safe for concurrent use.
package quotas
