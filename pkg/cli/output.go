package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// OutputFlag is the flag -o. cli-runtime's PrintFlags print runtime.Objects only; most of what the plugin prints is
// none.
type OutputFlag struct {
	Format  string
	formats []string
}

// AddFlag offers json, yaml and name, and more formats of the command's own.
func (o *OutputFlag) AddFlag(cmd *cobra.Command, more ...string) {
	o.AddFormats(cmd, append([]string{"json", "yaml", "name"}, more...)...)
}

// AddFormats offers these formats only.
func (o *OutputFlag) AddFormats(cmd *cobra.Command, formats ...string) {
	o.formats = formats
	cmd.Flags().StringVarP(&o.Format, "output", "o", "", "One of: "+strings.Join(o.formats, ", "))
	CompleteFlag(cmd, "output", func(*cobra.Command, string) []string { return o.formats })
}

// Validate returns an error unless the command has the format.
func (o *OutputFlag) Validate() error {
	if o.Format != "" && !slices.Contains(o.formats, o.Format) {
		return UsageErrorf("--output=%s is not one of %s", o.Format, strings.Join(o.formats, ", "))
	}
	return nil
}

// Print prints data in one of the common formats, exactly. It returns false, and prints nothing, for any other.
func (o *OutputFlag) Print(w io.Writer, data any, names func() []string) (bool, error) {
	w = Exact(w)
	switch o.Format {
	case "json":
		text, err := json.MarshalIndent(data, "", "    ")
		if err == nil {
			_, err = fmt.Fprintln(w, string(text))
		}
		return true, err
	case "yaml":
		text, err := json.Marshal(data)
		if err == nil {
			text, err = yamlbody.FromJSON(text)
		}
		if errors.Is(err, yamlbody.ErrTooDeep) {
			err = fmt.Errorf("%w; use --output=json", err)
		}
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
