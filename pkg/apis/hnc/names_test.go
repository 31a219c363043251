package hnc_test

import (
	"maps"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestTreeLabelsAreDistances(t *testing.T) {
	for name, row := range map[string]struct {
		path []string
		want map[string]string
	}{
		"none":                     {nil, map[string]string{}},
		"a root":                   {[]string{"a"}, map[string]string{hnc.TreeLabel("a"): "0"}},
		"a grandchild":             {[]string{"c", "b", "a"}, map[string]string{hnc.TreeLabel("c"): "0", hnc.TreeLabel("b"): "1", hnc.TreeLabel("a"): "2"}},
		"of two names, the nearer": {[]string{"a", "b", "a", "b", "c"}, map[string]string{hnc.TreeLabel("a"): "0", hnc.TreeLabel("b"): "1", hnc.TreeLabel("c"): "4"}},
	} {
		if got := hnc.TreeLabels(row.path); !maps.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}
