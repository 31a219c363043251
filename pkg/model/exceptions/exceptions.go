package exceptions

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// Annotations are the values of the annotations. An empty value and an absent annotation mean the same.
type Annotations struct {
	Select, TreeSelect, None, All string
	// AllowOverride and Override do not limit where a source is propagated: see ParseOverrides.
	AllowOverride, Override string
}

// Of returns the annotations of an object, and of a value that is too long its beginning, which is invalid as well: no
// valid value contains an ellipsis.
func Of(annotations map[string]string) Annotations {
	selector := func(key string) string { return names.Truncate(annotations[key], maxCharacters*utf8.UTFMax) }
	boolean := func(key string) string { return names.Truncate(annotations[key], maxBoolean) }
	return Annotations{
		Select:     selector(hnc.AnnotationSelect),
		TreeSelect: selector(hnc.AnnotationTreeSelect),
		None:       boolean(hnc.AnnotationNone),
		All:        boolean(hnc.AnnotationAll),

		AllowOverride: boolean(hnc.AnnotationAllowOverride),
		Override:      boolean(hnc.AnnotationOverride),
	}
}

// itemSize is about how many bytes an item of a parsed selector has.
const itemSize = 128

// Size returns about how many bytes the annotations have, with what they are parsed to.
func (a Annotations) Size() int {
	size := 0
	for _, value := range []string{a.Select, a.TreeSelect, a.None, a.All, a.AllowOverride, a.Override} {
		if value != "" {
			size += 2*len(value) + (strings.Count(value, ",")+1)*itemSize
		}
	}
	return size
}

// Exceptions limit the namespaces to which a source is propagated. The zero value applies the default. It is
// immutable.
type Exceptions struct {
	// Both selectors must match; nil matches everything.
	selectLabels, selectTree labels.Selector
	none, all                bool
}

// Parse parses the annotations. The error names each invalid annotation; a source with one is not propagated.
func Parse(a Annotations) (Exceptions, error) {
	var e Exceptions
	var errs [4]error
	e.selectLabels, errs[0] = parseSelect(a.Select)
	e.selectTree, errs[1] = parseTree(a.TreeSelect)
	e.none, errs[2] = parseBool(hnc.AnnotationNone, a.None)
	e.all, errs[3] = parseBool(hnc.AnnotationAll, a.All)
	return e, errors.Join(errs[:]...)
}

// Selects reports whether a source is propagated to a namespace with these labels. byDefault applies to sources
// without exceptions.
func (e Exceptions) Selects(byDefault bool, namespace map[string]string) bool {
	for _, selector := range []labels.Selector{e.selectLabels, e.selectTree} {
		if selector == nil {
			continue
		}
		byDefault = true
		if !selector.Matches(labels.Set(namespace)) {
			return false
		}
	}
	return !e.none && (e.all || byDefault)
}

// Selective reports whether the labels of the namespace matter.
func (e Exceptions) Selective() bool { return e.selectLabels != nil || e.selectTree != nil }

// The limits of a selector, because it is parsed with each update of its source and compared with each namespace below.
// pkg/admissionpolicy/exceptions.yaml has the same. Values in parentheses count as items, too.
const (
	maxCharacters = 8192
	maxItems      = 64
)

// maxBoolean is the length in bytes up to which errors quote what should be true or false.
const maxBoolean = 64

// checkSize returns an error if a selector exceeds the limits.
func checkSize(key, value string) error {
	switch characters, items := utf8.RuneCountInString(value), strings.Count(value, ",")+1; {
	case characters > maxCharacters:
		return fmt.Errorf("annotation %s: %d characters are more than %d; set a label on the namespaces and select that label", key, characters, maxCharacters)
	case items > maxItems:
		return fmt.Errorf("annotation %s: %d items are more than %d; set a label on the namespaces and select that label", key, items, maxItems)
	}
	return nil
}

// parseSelect parses a label selector: k, !k, k=v, k==v, k in (a,b), k notin (a,b), joined by commas.
func parseSelect(value string) (labels.Selector, error) {
	if value == "" {
		return nil, nil
	}
	if err := checkSize(hnc.AnnotationSelect, value); err != nil {
		return nil, err
	}
	parsed, err := metav1.ParseToLabelSelector(value)
	if err != nil {
		return nil, fmt.Errorf("annotation %s: %s; use a label selector without !=, > and < (write notin for !=)", hnc.AnnotationSelect, names.ShortenText(err.Error()))
	}
	selector, err := metav1.LabelSelectorAsSelector(parsed)
	if err != nil {
		return nil, fmt.Errorf("annotation %s: %s", hnc.AnnotationSelect, names.ShortenText(err.Error()))
	}
	if selector.Empty() {
		return nil, nil
	}
	return selector, nil
}

func parseBool(key, value string) (bool, error) {
	if value == "" {
		return false, nil
	}
	b, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("annotation %s: %q is neither true nor false", key, strings.ToValidUTF8(value, "?"))
	}
	return b, nil
}
