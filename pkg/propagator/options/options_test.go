package options

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFlagsThatCanNotWorkAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"the defaults":     {func(*Options) {}, ""},
		"no port":          {func(o *Options) { o.Secure.BindPort = -1 }, "serving"},
		"no workers":       {func(o *Options) { o.Workers = 0 }, "workers"},
		"a short lease":    {func(o *Options) { o.LeaderElection.LeaseDuration = metav1.Duration{Duration: time.Second} }, "leader-elect-lease-duration"},
		"no configuration": {func(o *Options) { o.InitialConfiguration = "testdata/missing.yaml" }, "initial-configuration"},
		"another kind":     {func(o *Options) { o.InitialConfiguration = "testdata/hierarchy.yaml" }, "initial-configuration"},
		"an unknown field": {func(o *Options) { o.InitialConfiguration = "testdata/unknown-field.yaml" }, "initial-configuration"},
		"invalid rules":    {func(o *Options) { o.InitialConfiguration = "testdata/invalid-rules.yaml" }, "initial-configuration"},
		"a configuration":  {func(o *Options) { o.InitialConfiguration = "testdata/configuration.yaml" }, ""},
		"no election": {func(o *Options) {
			o.LeaderElection.LeaderElect, o.LeaderElection.LeaseDuration = false, metav1.Duration{}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := New()
			test.change(o)
			got := ""
			for _, err := range o.Validate() {
				got += err.Field
			}
			if got != test.want {
				t.Errorf("refused %q, want %q", got, test.want)
			}
		})
	}
}

func TestTheFlagsOfTheContractExist(t *testing.T) {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	New().AddFlags(fs)
	for _, name := range []string{
		"kubeconfig", "secure-port", "workers", "leader-elect", "leader-elect-lease-duration", "leader-elect-renew-deadline",
		"leader-elect-retry-period", "leader-elect-resource-namespace",
		"initial-configuration",
		"suppress-object-tags", "profiling",
	} {
		if fs.Lookup(name) == nil {
			t.Errorf("no flag --%s", name)
		}
	}
	if got := fs.Lookup("leader-elect-resource-namespace").DefValue; got != "hns-system" {
		t.Errorf("the lease is in %q", got)
	}
}
