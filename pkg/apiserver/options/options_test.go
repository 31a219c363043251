package options

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestDocumentationListsTheFlagsOfTheServer(t *testing.T) {
	text, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	flags := New().Flags()
	flags.FlagSet("hierarchy").VisitAll(func(f *pflag.Flag) {
		_, line, found := strings.Cut(string(text), "| `--"+f.Name)
		line, _, _ = strings.Cut(line, "\n")
		if value := strings.Trim(f.DefValue, "[]"); !found || value != "" && !strings.Contains(line, "| `"+value+"`") {
			t.Errorf("no line for --%s with the default %q", f.Name, value)
		}
	})
}

func TestProfilesAreServedOnlyIfAskedFor(t *testing.T) {
	if New().Recommended.Features.EnableProfiling {
		t.Error("hns-apiserver serves profiles by default")
	}
}
