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

// ServerDryRunFlag is the flag --dry-run of a command that cannot do without the server: "none" or "server".
type ServerDryRunFlag struct{ DryRunFlag }

// AddFlag adds --dry-run, which means "server" without a value.
func (d *ServerDryRunFlag) AddFlag(flags *pflag.FlagSet, usage string) {
	d.DryRunFlag = "none"
	flags.Var(d, "dry-run", usage)
	flags.Lookup("dry-run").NoOptDefVal = "server"
}

// Type implements pflag.Value.
func (d *ServerDryRunFlag) Type() string { return "none|server" }

// Set implements pflag.Value.
func (d *ServerDryRunFlag) Set(value string) error {
	if value == "client" {
		return UsageErrorf("must be none or server: what would be done depends on the cluster")
	}
	return d.DryRunFlag.Set(value)
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
