package options

import (
	"testing"

	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// Feature gates are global: a process with several servers creates several options.
func TestWatchCacheKeepsNoSnapshots(t *testing.T) {
	for range 2 {
		o := New()
		o.Flags()
		if err := o.Server.ComponentGlobalsRegistry.Set(); err != nil {
			t.Fatal(err)
		}
	}
	gates := utilfeature.DefaultFeatureGate
	if gates.Enabled(features.ListFromCacheSnapshot) || gates.Enabled(features.DetectCacheInconsistency) {
		t.Error("the watch cache keeps snapshots")
	}
}
