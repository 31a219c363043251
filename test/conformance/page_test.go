package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	const quota, crd, cronJob, table = "[sig-api-machinery] ResourceQuota", "[sig-api-machinery] CustomResourceDefinition", "[sig-apps] CronJob", "[sig-apps] Table"
	got := string(page("v1", map[string]results{
		direct:            {quota: true, crd: true, cronJob: true, table: true, "[sig-apps] StatefulSet": false},
		relative:          {cronJob: true},
		relative + owner:  {quota: true},
		realNames:         {cronJob: true, table: true},
		realNames + owner: {quota: true},
	}))
	for _, want := range []string{
		"| sig-api-machinery | 2 | 2 | 0 | 0 |\n| sig-apps | 3 | 2 | 1 | 2 |\n| all | 5 | 4 | 1 | 2 |\n",
		"**Bug:** to be found\n\n- " + crd + ", with relative names\n- " + table + ", with relative names\n",
		"**By design:** a view with real names has no CustomResourceDefinitions of its own\n\n- " + crd + ", with real names\n",
		"is\n\n- " + quota + "\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\ndoes not contain\n%s", got, want)
		}
	}
}

func TestSpecsOfARun(t *testing.T) {
	all := map[string]results{direct: {"a.": true, "b": true, "c": true, "d": false, "StatefulSet": true}, relative: {"b": true}}
	for _, c := range []struct {
		run         run
		focus, want string
	}{
		{runs[1][0], "", `--focus= (StatefulSet|a\.|b|c)$`},
		{runs[2][0], "", `--focus= (a\.|c)$`},
		{runs[1][0], "^[ab]", `--focus= (a\.|b)$`},
		{runs[2][0], "^[ab]", `--focus= (a\.)$`},
	} {
		if got := c.run.specs(all, regexp.MustCompile(c.focus)); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s %q: got %v, want %s", c.run.name, c.focus, got, c.want)
		}
	}
	if got := runs[0][0].specs(all, regexp.MustCompile("x|y")); got[len(got)-1] != "--focus=x|y" {
		t.Errorf("in the cluster: %v", got)
	}
}

// A run of some specs does not change the results of the others.
func TestResultsOfAFocusedRunReplaceThoseOfItsSpecs(t *testing.T) {
	spec := func(name, state string) string {
		return `{"ContainerHierarchyTexts":["","[sig-apps]"],"LeafNodeLabels":["Conformance"],"LeafNodeText":"` + name + `","State":"` + state + `"}`
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, direct), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, report := range []string{
		spec("a", "passed") + "," + spec("b", "passed") + "," + spec("c", "failed") + "," + spec("d", "skipped"),
		spec("a", "skipped") + "," + spec("b", "failed") + "," + spec("c", "passed") + "," + spec("d", "skipped"),
	} {
		err := os.WriteFile(filepath.Join(dir, direct, reportFile), []byte(`[{"SpecReports":[`+report+`]}]`), 0o600)
		if err := errors.Join(err, keepResults(dir, dir, direct)); err != nil {
			t.Fatal(err)
		}
	}
	want := results{"[sig-apps] a": true, "[sig-apps] b": false, "[sig-apps] c": true, "[sig-apps] d": false}
	if got, err := readResults(dir, direct); err != nil || !maps.Equal(got, want) {
		t.Errorf("%v %v", got, err)
	}
}
