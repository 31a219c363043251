package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

var namespaceResource = corev1.SchemeGroupVersion.WithResource("namespaces")

// usageError says that the command line is wrong, and that its help would tell.
type usageError struct{ error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// checkNamespace refuses what can't be the name of a namespace.
func checkNamespace(name string) error {
	switch {
	case strings.ContainsAny(name, "*?["):
		return usage("%q is no name of a namespace: patterns are not expanded; name each namespace", name)
	case len(validation.IsDNS1123Label(name)) > 0:
		return usage("%q is no name of a namespace: a name has at most 63 lower case letters, digits and '-', the first and the last no '-'", name)
	}
	return nil
}

// namespaceArgs takes between least and most names of namespaces.
func namespaceArgs(least, most int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usage("got %d arguments, want %s", len(args), count(least, most))
		}
		for _, arg := range args {
			if err := checkNamespace(arg); err != nil {
				return err
			}
		}
		return nil
	}
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usage("got %d arguments, want %s", len(args), what)
		}
		return nil
	}
}

func count(least, most int) string {
	switch {
	case most == 0:
		return "none"
	case least == most && most == 1:
		return "the name of one namespace"
	case least == most:
		return fmt.Sprintf("the names of %d namespaces", most)
	}
	return fmt.Sprintf("%d to %d names of namespaces", least, most)
}

// contradict refuses two flags that say contrary things.
func contradict(flags *pflag.FlagSet, a, b string) error {
	if flags.Changed(a) && flags.Changed(b) {
		return usage("--%s and --%s contradict each other; give one of them", a, b)
	}
	return nil
}

// errSilent says that everything that is to be said has been.
var errSilent = errors.New("failed")
