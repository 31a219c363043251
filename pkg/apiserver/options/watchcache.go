package options

import (
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/component-base/featuregate"
)

// reduceWatchCache disables features of the watch cache that take as much memory as its objects. --feature-gates
// overrides these defaults.
func reduceWatchCache(gates featuregate.MutableFeatureGate) {
	for _, feature := range []featuregate.Feature{
		// It keeps snapshots of all objects for five minutes and more. Lists at past revisions are rare, and etcd can
		// answer them.
		features.ListFromCacheSnapshot,
		// It reads all objects from etcd every five minutes. An inconsistency only disables the snapshots.
		features.DetectCacheInconsistency,
	} {
		// Gates are global, and their defaults cannot be overridden twice.
		if gates.GetAll()[feature].Default {
			utilruntime.Must(gates.OverrideDefault(feature, false))
		}
	}
}
