package cli

import (
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// dryRunFlag is the flag --dry-run: "none", "client" or "server".
type dryRunFlag string

func (d *dryRunFlag) addFlag(flags *pflag.FlagSet) {
	*d = "none"
	flags.Var(d, "dry-run", `"client" prints what would be sent, "server" has the server validate it without storing anything`)
	flags.Lookup("dry-run").NoOptDefVal = "client"
}

// String implements pflag.Value.
func (d *dryRunFlag) String() string { return string(*d) }

// Type implements pflag.Value.
func (d *dryRunFlag) Type() string { return "none|client|server" }

// Set implements pflag.Value.
func (d *dryRunFlag) Set(value string) error {
	switch value {
	case "none", "client", "server":
		*d = dryRunFlag(value)
		return nil
	}
	return usageErrorf("must be none, client or server")
}

// client reports whether nothing is sent.
func (d *dryRunFlag) client() bool { return *d == "client" }

// enabled reports whether nothing is stored.
func (d *dryRunFlag) enabled() bool { return *d != "none" }

// options returns the dryRun option of a writing request.
func (d *dryRunFlag) options() []string {
	if *d == "server" {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// suffix follows messages about writes, as in kubectl.
func (d *dryRunFlag) suffix() string {
	switch *d {
	case "client":
		return " (dry run)"
	case "server":
		return " (server dry run)"
	}
	return ""
}
