package managedkeys

import (
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestKeyPatterns(t *testing.T) {
	for name, test := range map[string]struct {
		patterns []string
		key      string
		want     bool
	}{
		"5.1: nothing is managed by default":      {nil, "example.com/team", false},
		"5.1: a key":                              {[]string{"example.com/team"}, "example.com/team", true},
		"5.1: the whole key, at its end":          {[]string{"example.com/team"}, "example.com/team-b", false},
		"5.1: the whole key, at its start":        {[]string{"team"}, "my-team", false},
		"5.1: the first alternative is grouped":   {[]string{"a|b"}, "ab", false},
		"5.1: the second alternative is grouped":  {[]string{"a|b"}, "xb", false},
		"5.1: each alternative":                   {[]string{"a|b"}, "b", true},
		"5.1: several patterns":                   {[]string{"a", "example.com/.*"}, "example.com/team", true},
		"5.1: the API server's own label is none": {[]string{"kubernetes.io/.*"}, "kubernetes.io/metadata.name", false},
		"5.1: pod security":                       {[]string{`pod-security\.kubernetes\.io/.*`}, "pod-security.kubernetes.io/enforce", true},
	} {
		t.Run(name, func(t *testing.T) {
			keys, errs := newKeys(test.patterns, nil, nil)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if keys.Label(test.key) != test.want || keys.Annotation(test.key) {
				t.Errorf("label %t, annotation %t", keys.Label(test.key), keys.Annotation(test.key))
			}
			if keys, errs = newKeys(nil, test.patterns, nil); len(errs) > 0 || keys.Annotation(test.key) != test.want || keys.Label(test.key) {
				t.Errorf("label %t, annotation %t: %v", keys.Label(test.key), keys.Annotation(test.key), errs)
			}
		})
	}
}

func TestPatternsMatchingReservedKeysAreRejected(t *testing.T) {
	for pattern, refused := range map[string]bool{
		hnc.GroupName:                  true,
		`hnc\.x-k8s\.io`:               true,
		`hnc\.x-k8s\.io/.*`:            true,
		`hnc\.x-k8s\.io/inherited.*`:   true,
		`.*`:                           true,
		`.*/depth`:                     true,
		`[a-z.]*\.tree\.hnc.*`:         true,
		`propagate.hnc.x-k8s.io/all`:   true,
		`.*x-k8s\.io/.*`:               true,
		`(?i)HNC\.X-K8S\.IO/team`:      true,
		`[^/]+/orphaned|team`:          true,
		`hnc.x-k8s.io(/team)?`:         true,
		`\w+\.hnc\.x-k8s\.io/\w+`:      true,
		`\bhnc\.x-k8s\.io/team\b`:      true,
		`team`:                         false,
		`[a-z-]+`:                      false,
		`example\.com/.*`:              false,
		`(a|b)\.example\.com/[a-z]+`:   false,
		`nothnc\.x-k8s\.io/team`:       false,
		`hnc\.x-k8s\.io\.example\.com`: false,
		`.*kubernetes\.io/.*`:          false,
		`example.com/hnc\.x-k8s\.io`:   false,
		`[a-z.]+k8s/.*`:                false,
	} {
		_, errs := newKeys([]string{pattern}, nil, nil)
		if (len(errs) > 0) != refused {
			t.Errorf("label %s: %v, want it refused: %t", pattern, errs, refused)
		}
		if _, errs = newKeys(nil, []string{pattern}, nil); (len(errs) > 0) != refused {
			t.Errorf("annotation %s: %v, want it refused: %t", pattern, errs, refused)
		}
		if len(errs) > 0 && errs[0].Field != "managedNamespaceAnnotations[0]" {
			t.Errorf("%v does not name the field", errs)
		}
	}
}

func TestInvalidPatternsAreRejected(t *testing.T) {
	for _, pattern := range []string{`(`, `a)|(b`, `[`, `*`} {
		if _, errs := newKeys([]string{pattern}, nil, nil); len(errs) == 0 {
			t.Errorf("%s was taken", pattern)
		}
		if _, errs := newNamespaces(nil, pattern, nil, nil); len(errs) == 0 {
			t.Errorf("%s was taken for names", pattern)
		}
	}
}

// A pattern that matches a reserved key must be rejected.
func FuzzPatternsNeverMatchReservedKeys(f *testing.F) {
	for _, seed := range []string{`a|b`, `.*`, `hnc.*`, `[^/]*/x`, `(?i)H.*`, `\B.\b`, `$^`, `(?m)^x$`, `a{2,3}`} {
		f.Add(seed)
	}
	ours := []string{hnc.GroupName, hnc.LabelInheritedFrom, hnc.LabelOrphaned, hnc.AnnotationSubnamespaceOf, hnc.TreeLabel("a"), "propagate.hnc.x-k8s.io/all"}
	f.Fuzz(func(t *testing.T, pattern string) {
		keys, errs := newKeys([]string{pattern}, nil, nil)
		if len(errs) > 0 {
			return
		}
		for _, key := range ours {
			if keys.Label(key) {
				t.Errorf("%q matches %s", pattern, key)
			}
		}
	})
}

func TestExternalAndSubnamespaceOf(t *testing.T) {
	for name, test := range map[string]struct {
		annotations map[string]string
		external    bool
		of          string
	}{
		"0.1: nobody":                         {nil, false, ""},
		"0.1: a sub-namespace":                {map[string]string{hnc.AnnotationSubnamespaceOf: "p"}, false, "p"},
		"0.1: managed by nobody":              {map[string]string{hnc.AnnotationManagedBy: "", hnc.AnnotationSubnamespaceOf: "p"}, false, "p"},
		"0.1: managed by us":                  {map[string]string{hnc.AnnotationManagedBy: "hnc.x-k8s.io", hnc.AnnotationSubnamespaceOf: "p"}, false, "p"},
		"0.1: managed by somebody":            {map[string]string{hnc.AnnotationManagedBy: "other"}, true, ""},
		"0.1: external is not a subnamespace": {map[string]string{hnc.AnnotationManagedBy: "other", hnc.AnnotationSubnamespaceOf: "p"}, true, ""},
	} {
		if External(test.annotations) != test.external || SubnamespaceOf(test.annotations) != test.of {
			t.Errorf("%s: external %t, sub-namespace of %q", name, External(test.annotations), SubnamespaceOf(test.annotations))
		}
	}
}
