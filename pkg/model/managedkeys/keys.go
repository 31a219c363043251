package managedkeys

import (
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// Keys determines which labels and annotations of namespaces are managed: set by hierarchies only. The zero value
// manages none. It is immutable.
type Keys struct {
	labels, annotations []*regexp.Regexp
}

// newKeys returns the keys that the anchored patterns match. It fails for an invalid regular expression, and for one
// that may match a key of the domain hnc.x-k8s.io: users allowed to write a hierarchy must not be able to write a
// tree label.
func newKeys(labels, annotations []string, at *field.Path) (Keys, field.ErrorList) {
	var k Keys
	var errs field.ErrorList
	for _, list := range []struct {
		field    string
		patterns []string
		compiled *[]*regexp.Regexp
	}{{"managedNamespaceLabels", labels, &k.labels}, {"managedNamespaceAnnotations", annotations, &k.annotations}} {
		for i, pattern := range list.patterns {
			at := at.Child(list.field).Index(i)
			compiled, err := compileAnchored(pattern)
			switch {
			case err != nil:
				errs = append(errs, field.Invalid(at, pattern, err.Error()))
			case intersect(compiled, ownDomain):
				errs = append(errs, field.Invalid(at, pattern,
					fmt.Sprintf("matches keys of %s, which are reserved; use a pattern that cannot match them", hnc.GroupName)))
			default:
				*list.compiled = append(*list.compiled, compiled)
			}
		}
	}
	return k, errs
}

// ownDomain matches the domain hnc.x-k8s.io and all keys in it and in its subdomains.
var ownDomain = regexp.MustCompile(`^(?:[^/]*\.)?` + regexp.QuoteMeta(hnc.GroupName) + `(?:/[^/]*)?$`)

// compileAnchored compiles a pattern that matches whole strings only. It compiles the pattern without the group
// first: `a)|(b` is invalid, but would be valid inside the group.
func compileAnchored(pattern string) (*regexp.Regexp, error) {
	if err := validation.ValidatePattern(pattern); err != nil {
		return nil, err
	}
	return regexp.Compile("^(?:" + pattern + ")$")
}

// Label reports whether labels with that key are managed.
func (k Keys) Label(key string) bool { return matches(k.labels, key) }

// Annotation reports whether annotations with that key are managed.
func (k Keys) Annotation(key string) bool { return matches(k.annotations, key) }

// AnyAnnotation reports whether any annotation may be managed.
func (k Keys) AnyAnnotation() bool { return len(k.annotations) > 0 }

func matches(patterns []*regexp.Regexp, key string) bool {
	// The API server sets this label itself, and would set it again.
	if len(patterns) == 0 || key == corev1.LabelMetadataName {
		return false
	}
	for _, pattern := range patterns {
		if pattern.MatchString(key) {
			return true
		}
	}
	return false
}

// Manager returns the other tool that manages the namespace with these annotations, "" if there is none. What is too
// long for a name is shortened, because messages repeat it.
func Manager(annotations map[string]string) string {
	manager := annotations[hnc.AnnotationManagedBy]
	if manager == hnc.GroupName {
		return ""
	}
	return names.Shorten(manager)
}

// External reports whether the namespace with these annotations is managed by another tool: it may be the root of a
// tree, but never a child (docs/spec/hnc.md 0.1).
func External(annotations map[string]string) bool { return Manager(annotations) != "" }

// SubnamespaceOf returns the parent of a sub-namespace with these annotations, "" for a full namespace. Only the
// annotation decides, unless the namespace is external (docs/spec/hnc.md 0.1). What is too long for a name is shortened.
func SubnamespaceOf(annotations map[string]string) string {
	if External(annotations) {
		return ""
	}
	return names.Shorten(annotations[hnc.AnnotationSubnamespaceOf])
}

// Kind returns the kind of the namespace with these annotations.
func Kind(annotations map[string]string) hnc.NamespaceKind {
	switch {
	case External(annotations):
		return hnc.NamespaceExternal
	case SubnamespaceOf(annotations) != "":
		return hnc.NamespaceSubnamespace
	}
	return hnc.NamespaceFull
}
