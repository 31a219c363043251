package embedded

import "k8s.io/component-base/metrics"

// quotaBytes is registered with the first etcd: a process without one does not report it.
var quotaBytes = metrics.NewGauge(&metrics.GaugeOpts{
	Name: "hns_storage_quota_bytes", Help: "The size of the database at which the embedded etcd accepts no more writes.", StabilityLevel: metrics.ALPHA,
})
