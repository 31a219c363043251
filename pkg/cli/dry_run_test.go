package cli

import (
	"testing"

	"github.com/spf13/pflag"
)

func TestCommandsThatNeedTheServerHaveNoDryRunOfTheClient(t *testing.T) {
	for arg, want := range map[string]string{"--dry-run": "server", "--dry-run=server": "server", "--dry-run=none": "none", "--dry-run=client": "", "--dry-run=other": ""} {
		var flag ServerDryRunFlag
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flag.AddFlag(flags, "")
		switch err := flags.Parse([]string{arg}); {
		case want == "" && err == nil:
			t.Errorf("%s is accepted", arg)
		case want != "" && (err != nil || flag.String() != want || flag.Client()):
			t.Errorf("%s is %s, %v, want %s", arg, &flag, err, want)
		}
	}
}
