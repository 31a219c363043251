package options

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
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

func TestDocumentationListsTheFlags(t *testing.T) {
	text, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Flags of hns-sync")
	section, _, _ = strings.Cut(section, "\n## ")
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	New().AddFlags(fs)
	for _, name := range []string{"local-repositories", "scratch-dir", "max-repository-bytes"} {
		f := fs.Lookup(name)
		if f == nil {
			t.Errorf("no flag --%s", name)
			continue
		}
		_, line, found := strings.Cut(section, "| `--"+name)
		line, _, _ = strings.Cut(line, "\n")
		if !found || f.DefValue != "" && !strings.Contains(line, "| `"+f.DefValue+"`") {
			t.Errorf("no line for --%s with the default %q", name, f.DefValue)
		}
	}
}
