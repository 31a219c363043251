package options

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFlagsThatCannotWorkAreRejected(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"the defaults":    {func(*Options) {}, ""},
		"no port":         {func(o *Options) { o.Secure.BindPort = -1 }, "serving"},
		"a relative path": {func(o *Options) { o.LocalRepositories = "repositories" }, "local-repositories"},
		"no bytes":        {func(o *Options) { o.MaxRepositoryBytes = 0 }, "max-repository-bytes"},
		"a short lease":   {func(o *Options) { o.LeaderElection.LeaseDuration = metav1.Duration{Duration: time.Second} }, "leader-elect-lease-duration"},
	} {
		t.Run(name, func(t *testing.T) {
			o := New()
			test.change(o)
			got := ""
			for _, err := range o.Validate() {
				got += err.Field
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
