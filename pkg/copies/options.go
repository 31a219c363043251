package copies

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
)

// Names of the flags.
const (
	UnpropagatedLabelFlag      = "unpropagated-label"
	UnpropagatedAnnotationFlag = "unpropagated-annotation"
	NoPropagationFlag          = "nopropagation-label"
	StripTrackingFlag          = "strip-tracking-metadata"
)

// Options are the flags that specify what copies leave out and which objects are never copied.
type Options struct {
	UnpropagatedLabels, UnpropagatedAnnotations []string
	NoPropagation                               []string
	StripTracking                               bool
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{NoPropagation: []string{"cattle.io/creator=norman"}, StripTracking: true}
}

// AddFlags adds the flags.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	const same = " spec.rules of the configuration overrides it; otherwise hns-apiserver and hns-propagator must be given the same."
	fs.StringArrayVar(&o.UnpropagatedLabels, UnpropagatedLabelFlag, o.UnpropagatedLabels,
		"Key of a label that copies leave out. Can be given several times."+same)
	fs.StringArrayVar(&o.UnpropagatedAnnotations, UnpropagatedAnnotationFlag, o.UnpropagatedAnnotations,
		"Key of an annotation that copies leave out. Can be given several times."+same)
	fs.StringArrayVar(&o.NoPropagation, NoPropagationFlag, o.NoPropagation,
		"Label (key=value) of objects that are not propagated. Can be given several times; these replace the default."+same)
	var tools []string
	for _, t := range trackingMetadata {
		if len(tools) == 0 || tools[len(tools)-1] != t.Tool {
			tools = append(tools, t.Tool)
		}
	}
	fs.BoolVar(&o.StripTracking, StripTrackingFlag, o.StripTracking,
		"Copies leave out the labels and annotations by which tools recognize the objects that they have applied, and that they may delete: those of "+
			strings.Join(tools, ", ")+"."+same)
}

// Rules returns the rules that the flags specify, or the error in one of them.
func (o *Options) Rules() (Rules, error) {
	for flag, keys := range map[string][]string{
		UnpropagatedLabelFlag: o.UnpropagatedLabels, UnpropagatedAnnotationFlag: o.UnpropagatedAnnotations,
	} {
		for _, key := range keys {
			if problems := validation.IsQualifiedName(strings.ToLower(key)); len(problems) > 0 {
				return Rules{}, managed.FlagError{Flag: flag, Err: fmt.Errorf("%q is not a key: %s", key, problems[0])}
			}
		}
	}
	labels, err := parseLabels(o.NoPropagation)
	if err != nil {
		return Rules{}, managed.FlagError{Flag: NoPropagationFlag, Err: err}
	}
	return Rules{
		Labels:        sets.New(o.UnpropagatedLabels...),
		Annotations:   sets.New(o.UnpropagatedAnnotations...),
		KeepTracking:  !o.StripTracking,
		NoPropagation: labels,
	}, nil
}

// parseLabels parses labels of the form key=value.
func parseLabels(values []string) ([]Label, error) {
	var parsed []Label
	for _, text := range values {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" || strings.Contains(value, "=") {
			return nil, fmt.Errorf("%q is not of the form key=value", text)
		}
		parsed = append(parsed, Label{key, value})
	}
	return parsed, nil
}
