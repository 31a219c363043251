package options

import (
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/component-base/featuregate"
)

// frugal has the watch cache do without what takes as much memory as the objects in it, where there are thousands. --feature-gates says
// otherwise.
func frugal(gates featuregate.MutableFeatureGate) {
	for _, feature := range []featuregate.Feature{
		// What a list would have shown at each revision is kept for five minutes and more. Lists of the past are rare, and etcd's to answer.
		features.ListFromCacheSnapshot,
		// Every five minutes all objects are read from etcd; that they differ from the cache has no consequence but not to keep the above.
		features.DetectCacheInconsistency,
	} {
		// Gates are the process's, and can't be set twice.
		if gates.GetAll()[feature].Default {
			utilruntime.Must(gates.OverrideDefault(feature, false))
		}
	}
}
