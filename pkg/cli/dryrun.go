package cli

import (
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// dryRun is the flag --dry-run: "none", "client" or "server".
type dryRun string

func (d *dryRun) addFlag(flags *pflag.FlagSet) {
	*d = "none"
	flags.Var(d, "dry-run", `"client" only says what would be sent, "server" has the server check it without storing anything`)
	flags.Lookup("dry-run").NoOptDefVal = "client"
}

// String implements pflag.Value.
func (d *dryRun) String() string { return string(*d) }

// Type implements pflag.Value.
func (d *dryRun) Type() string { return "none|client|server" }

// Set implements pflag.Value.
func (d *dryRun) Set(value string) error {
	switch value {
	case "none", "client", "server":
		*d = dryRun(value)
		return nil
	}
	return usage("it is none, client or server")
}

// client says that nothing is sent.
func (d *dryRun) client() bool { return *d == "client" }

// any says that nothing is stored.
func (d *dryRun) any() bool { return *d != "none" }

// options returns what a writing request says about it.
func (d *dryRun) options() []string {
	if *d == "server" {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// suffix follows what is reported as done, as kubectl has it.
func (d *dryRun) suffix() string {
	switch *d {
	case "client":
		return " (dry run)"
	case "server":
		return " (server dry run)"
	}
	return ""
}
