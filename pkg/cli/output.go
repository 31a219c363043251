package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// output is the flag -o.
type output struct {
	format string
	known  []string
}

// addFlag offers json, yaml and name, and more formats of the command's own.
func (o *output) addFlag(e *Environment, cmd *cobra.Command, more ...string) {
	o.addFormats(e, cmd, append([]string{"json", "yaml", "name"}, more...)...)
}

// addFormats offers these formats only.
func (o *output) addFormats(e *Environment, cmd *cobra.Command, formats ...string) {
	o.known = formats
	cmd.Flags().StringVarP(&o.format, "output", "o", "", "One of: "+strings.Join(o.known, ", "))
	e.completeFlag(cmd, "output", func(*cobra.Command, string) []string { return o.known })
}

func (o *output) check() error {
	if o.format != "" && !slices.Contains(o.known, o.format) {
		return usage("--output=%s is none of %s", o.format, strings.Join(o.known, ", "))
	}
	return nil
}

// print prints data if one of the common formats was asked for, and says whether it did.
func (o *output) print(e *Environment, data any, names func() []string) (bool, error) {
	switch o.format {
	case "json":
		text, err := json.MarshalIndent(data, "", "    ")
		if err == nil {
			_, err = fmt.Fprintln(e.Out, string(text))
		}
		return true, err
	case "yaml":
		text, err := yaml.Marshal(data)
		if err == nil {
			_, err = e.Out.Write(text)
		}
		return true, err
	case "name":
		_, err := fmt.Fprint(e.Out, lines(names()))
		return true, err
	}
	return false, nil
}

func lines(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, "\n") + "\n"
}

// warn says something on standard error that is no reason to fail.
func (e *Environment) warn(format string, args ...any) {
	_, _ = fmt.Fprintf(e.ErrOut, "Warning: "+format+"\n", args...)
}
