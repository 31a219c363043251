package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/validation"
)

// NamespaceResource is the resource of namespaces.
var NamespaceResource = corev1.SchemeGroupVersion.WithResource("namespaces")

// usageError is an error in the command line. It is printed with a hint at the command's help.
type usageError struct{ error }

// UsageErrorf returns an error about the arguments or flags, which is printed with a hint at --help.
func UsageErrorf(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// ErrReported makes the command fail without another message.
var ErrReported = errors.New("failed")

// errNotConfirmed is the error of a command whose question was not answered with yes.
var errNotConfirmed = errors.New("not confirmed, nothing was changed; answer yes, or give --yes")

// ErrFound makes the command end with the exit code of a command that has done its work, and found something.
var ErrFound error = exitError{exitFound}

// ValidateNamespace returns an error if name cannot be the name of a namespace.
func ValidateNamespace(name string) error {
	switch {
	case IsPattern(name):
		return UsageErrorf("%q is not the name of a namespace: patterns are not expanded; name each namespace", name)
	case len(validation.IsDNS1123Label(name)) > 0:
		return UsageErrorf("%q is not the name of a namespace: a name has at most 63 lower case letters, digits and '-', and begins and ends with a letter or digit", name)
	}
	return nil
}

// IsPattern reports whether a name is a pattern that a shell has not expanded.
func IsPattern(name string) bool { return strings.ContainsAny(name, "*?[") }

// namespaceArgs accepts between least and most names of namespaces.
func namespaceArgs(least, most int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			want := "the name of one namespace"
			if most > 1 {
				want = fmt.Sprintf("%d to %d names of namespaces", least, most)
			}
			return UsageErrorf("got %d arguments, want %s", len(args), want)
		}
		for _, arg := range args {
			if err := ValidateNamespace(arg); err != nil {
				return err
			}
		}
		return nil
	}
}

// ExactArgs accepts n arguments. The error for any other number names what they are.
func ExactArgs(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return UsageErrorf("got %d arguments, want %s", len(args), what)
		}
		return nil
	}
}

// validateExclusive returns an error if both flags are set.
func validateExclusive(flags *pflag.FlagSet, a, b string) error {
	if flags.Changed(a) && flags.Changed(b) {
		return UsageErrorf("--%s and --%s contradict each other; give one of them", a, b)
	}
	return nil
}

// validateParent returns an error if --parent is given and cannot be the name of a namespace. An empty name, which an
// unset variable of a script leaves, does not mean --root.
func validateParent(flags *pflag.FlagSet) error {
	flag := flags.Lookup("parent")
	switch {
	case !flag.Changed:
		return nil
	case flag.Value.String() == "":
		return UsageErrorf("--parent is empty; name the parent, or make the namespace a root by --root")
	}
	return ValidateNamespace(flag.Value.String())
}

// objectArg is an object that the arguments RESOURCE/NAME, or RESOURCE NAME, and -n name.
type objectArg struct {
	resource, name, namespace string
}

func (o *objectArg) complete(f *Factory, args []string) (err error) {
	if len(args) == 1 {
		args = strings.SplitN(args[0], "/", 2)
	}
	if len(args) == 2 {
		o.resource, o.name = args[0], args[1]
	}
	o.namespace, err = f.namespace()
	return err
}

func (o *objectArg) Validate() error {
	if o.resource == "" || o.name == "" {
		return UsageErrorf("name one object: RESOURCE/NAME")
	}
	if IsPattern(o.name) {
		return UsageErrorf("%q is not the name of an object: patterns are not expanded; name one object", o.name)
	}
	return nil
}

// connect returns the object's resource, and clients.
func (o *objectArg) connect(f *Factory) (*meta.RESTMapping, *Clients, error) {
	mapping, err := f.Mapping(o.resource)
	if err != nil {
		return nil, nil, err
	}
	c, err := f.Clients()
	return mapping, c, err
}
