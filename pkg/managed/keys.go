package managed

import (
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Keys says which labels and annotations of namespaces are managed: set by hierarchies, and by nobody else. The zero
// value manages none. It is immutable.
type Keys struct {
	labels, annotations []*regexp.Regexp
}

// NewKeys returns the keys that the patterns match as a whole. It fails for a pattern that is no regular expression, and
// for one that could match a key of our own domain: who may write a hierarchy must not be able to write a tree label.
func NewKeys(labels, annotations []string) (Keys, error) {
	var k Keys
	for _, list := range []struct {
		flag     string
		patterns []string
		compiled *[]*regexp.Regexp
	}{{LabelFlag, labels, &k.labels}, {AnnotationFlag, annotations, &k.annotations}} {
		for _, pattern := range list.patterns {
			compiled, err := whole(pattern)
			if err != nil {
				return Keys{}, fmt.Errorf("--%s: %w", list.flag, err)
			}
			if meet(compiled, ownDomain) {
				return Keys{}, fmt.Errorf("--%s: %q matches keys of %s, which hierarchies write themselves; use a pattern that can't match them",
					list.flag, pattern, hnc.GroupName)
			}
			*list.compiled = append(*list.compiled, compiled)
		}
	}
	return k, nil
}

// ownDomain matches our domain, and all keys in it and in the domains below it.
var ownDomain = regexp.MustCompile(`^(?:[^/]*\.)?` + regexp.QuoteMeta(hnc.GroupName) + `(?:/[^/]*)?$`)

// whole compiles a pattern so that it matches nothing but whole strings. The pattern is compiled by itself first: `a)|(b`
// is none, although it would be in the group.
func whole(pattern string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(pattern); err != nil {
		return nil, err
	}
	return regexp.Compile("^(?:" + pattern + ")$")
}

// Label says whether labels of that key are managed.
func (k Keys) Label(key string) bool { return matches(k.labels, key) }

// Annotation says whether annotations of that key are managed.
func (k Keys) Annotation(key string) bool { return matches(k.annotations, key) }

// AnyAnnotation says whether any annotation can be managed.
func (k Keys) AnyAnnotation() bool { return len(k.annotations) > 0 }

func matches(patterns []*regexp.Regexp, key string) bool {
	// The API server itself writes this one, and would write it again.
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

// External says whether somebody else manages the namespace with these annotations: it can be the root of a tree, and
// never a child (spec/hnc.md 0.1).
func External(annotations map[string]string) bool {
	manager := annotations[hnc.AnnotationManagedBy]
	return manager != "" && manager != hnc.GroupName
}

// SubnamespaceOf returns the namespace of which the one with these annotations is a sub-namespace, "" for a full one. The
// annotation alone decides, unless the namespace is external (spec/hnc.md 0.1).
func SubnamespaceOf(annotations map[string]string) string {
	if External(annotations) {
		return ""
	}
	return annotations[hnc.AnnotationSubnamespaceOf]
}

// Kind returns what the namespace with these annotations is to its tree.
func Kind(annotations map[string]string) hnc.NamespaceKind {
	switch {
	case External(annotations):
		return hnc.NamespaceExternal
	case SubnamespaceOf(annotations) != "":
		return hnc.NamespaceSubnamespace
	}
	return hnc.NamespaceFull
}
