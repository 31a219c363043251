package cli

import (
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DryRunFlag is the flag --dry-run: "none", "client" or "server".
type DryRunFlag string

// AddFlag adds --dry-run.
func (d *DryRunFlag) AddFlag(flags *pflag.FlagSet) {
	*d = "none"
	flags.Var(d, "dry-run", `"client" sends no change and prints what would be done, "server" has the server validate it without storing anything`)
	flags.Lookup("dry-run").NoOptDefVal = "client"
}

// String implements pflag.Value.
func (d *DryRunFlag) String() string { return string(*d) }

// Type implements pflag.Value.
func (d *DryRunFlag) Type() string { return "none|client|server" }

// Set implements pflag.Value.
func (d *DryRunFlag) Set(value string) error {
	switch value {
	case "none", "client", "server":
		*d = DryRunFlag(value)
		return nil
	}
	return UsageErrorf("must be none, client or server")
}

// Client reports whether nothing is sent.
func (d *DryRunFlag) Client() bool { return *d == "client" }

// Enabled reports whether nothing is stored.
func (d *DryRunFlag) Enabled() bool { return *d != "none" }

// options returns the dryRun option of a writing request.
func (d *DryRunFlag) options() []string {
	if *d == "server" {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// Suffix follows messages about writes, as in kubectl.
func (d *DryRunFlag) Suffix() string {
	switch *d {
	case "client":
		return " (dry run)"
	case "server":
		return " (server dry run)"
	}
	return ""
}
