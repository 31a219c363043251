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
		"the defaults":            {func(*Options) {}, ""},
		"no port":                 {func(o *Options) { o.Secure.BindPort = -1 }, "serving"},
		"no workers":              {func(o *Options) { o.Workers = 0 }, "workers"},
		"a short lease":           {func(o *Options) { o.LeaderElection.LeaseDuration = metav1.Duration{Duration: time.Second} }, "leader-elect-lease-duration"},
		"a label without a value": {func(o *Options) { o.Rules.Copies.NoPropagation = []string{"a"} }, "rules"},
		"a label without a key":   {func(o *Options) { o.Rules.Copies.NoPropagation = []string{"=a"} }, "rules"},
		"a label with two values": {func(o *Options) { o.Rules.Copies.NoPropagation = []string{"a=b=c"} }, "rules"},
		"a label with none":       {func(o *Options) { o.Rules.Copies.NoPropagation = []string{"a="} }, ""},
		"no key of a label":       {func(o *Options) { o.Rules.Copies.UnpropagatedLabels = []string{"a/b/c"} }, "rules"},
		"no key of an annotation": {func(o *Options) { o.Rules.Copies.UnpropagatedAnnotations = []string{""} }, "rules"},
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
		"unpropagated-label", "unpropagated-annotation", "nopropagation-label", "strip-tracking-metadata",
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
