package main

import (
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
		"**Bug:** to be found\n\n- " + table + ", with relative names\n",
		"**By design:** the TenantView allows no CustomResourceDefinitions\n\n- " + crd + "\n",
		"is\n\n- " + quota + "\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\ndoes not contain\n%s", got, want)
		}
	}
}

func TestSpecsOfARun(t *testing.T) {
	all := map[string]results{direct: {"a.": true, "b": true, "c": true, "d": false, "CustomResource": true}, relative: {"b": true}}
	for _, c := range []struct {
		run  run
		want string
	}{{runs[1][0], `--focus= (CustomResource|a\.|b|c)$`}, {runs[2][0], `--focus= (a\.|c)$`}} {
		if got := c.run.specs(all); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: got %v, want %s", c.run.name, got, c.want)
		}
	}
}
