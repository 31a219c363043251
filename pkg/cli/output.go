package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// outputFlag is the flag -o. cli-runtime's PrintFlags print runtime.Objects only; most of what the plugin prints is
// none.
type outputFlag struct {
	format  string
	formats []string
}

// addFlag offers json, yaml and name, and more formats of the command's own.
func (o *outputFlag) addFlag(cmd *cobra.Command, more ...string) {
	o.addFormats(cmd, append([]string{"json", "yaml", "name"}, more...)...)
}

// addFormats offers these formats only.
func (o *outputFlag) addFormats(cmd *cobra.Command, formats ...string) {
	o.formats = formats
	cmd.Flags().StringVarP(&o.format, "output", "o", "", "One of: "+strings.Join(o.formats, ", "))
	completeFlag(cmd, "output", func(*cobra.Command, string) []string { return o.formats })
}

func (o *outputFlag) validate() error {
	if o.format != "" && !slices.Contains(o.formats, o.format) {
		return usageErrorf("--output=%s is not one of %s", o.format, strings.Join(o.formats, ", "))
	}
	return nil
}

// print prints data in one of the common formats, exactly. It returns false, and prints nothing, for any other.
func (o *outputFlag) print(w io.Writer, data any, names func() []string) (bool, error) {
	w = exact(w)
	switch o.format {
	case "json":
		text, err := json.MarshalIndent(data, "", "    ")
		if err == nil {
			_, err = fmt.Fprintln(w, string(text))
		}
		return true, err
	case "yaml":
		text, err := yaml.Marshal(data)
		if err == nil {
			_, err = w.Write(text)
		}
		return true, err
	case "name":
		_, err := fmt.Fprint(w, lines(names()))
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
