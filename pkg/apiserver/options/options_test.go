package options

import (
	"testing"
	"time"
)

func TestProfilesAreServedOnlyIfAskedFor(t *testing.T) {
	if New().Recommended.Features.EnableProfiling {
		t.Error("hns-apiserver serves profiles by default")
	}
}

// What tenants may write in ten minutes, as with the default of other API servers, is more than the quota of etcd.
func TestEtcdKeepsLittleHistory(t *testing.T) {
	for given, want := range map[string]time.Duration{"": time.Minute, "5m": 5 * time.Minute, "0": 0} {
		o := New()
		sections := o.Flags()
		if given != "" {
			if err := sections.FlagSet("etcd").Set("etcd-compaction-interval", given); err != nil {
				t.Fatal(err)
			}
		}
		if got := o.Recommended.Etcd.StorageConfig.CompactionInterval; got != want {
			t.Errorf("with the flag %q: got %s, want %s", given, got, want)
		}
	}
}
