package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const head = `# Conformance of tenant views

<!-- make conformance writes this page -->

` + "`make conformance`" + ` runs Kubernetes' conformance specs in a cluster, as its administrator. Those that pass run again in two
[tenant views](views.md), as a user with the ClusterRole ` + "`admin`" + ` in the root of the tree, who may also read nodes. The
[TenantView](views.md#your-own-crds) of the first allows CustomResourceDefinitions. ` + "`make test`" + `
runs 20 of the specs that pass in both views, and two about CustomResourceDefinitions.

| | Specs | Pass in the cluster | In a view with relative names | In a view with real names |
| --- | ---: | ---: | ---: | ---: |
`

const middle = `
The cluster is a control plane of Kubernetes %s. Its nodes and pods are simulated: no containers run there. Specs that read what containers print, or
connect to pods, are not run, or fail in the cluster, too. The specs of API chunking and of suspended CronJobs are not run.

## Specs that fail in views

`

// everything is the row of all specs.
const everything = "all"

var sig = regexp.MustCompile(`^\[(sig-[a-z-]+)\] `)

// page returns the page about the results of all runs.
func page(version string, all map[string]results) []byte {
	var page strings.Builder
	page.WriteString(head)
	counts := count(all)
	for _, group := range slices.Sorted(maps.Keys(counts)) {
		if group != everything {
			row(&page, group, counts[group])
		}
	}
	row(&page, everything, counts[everything])
	fmt.Fprintf(&page, middle, version)
	failures(&page, all)
	return []byte(page.String())
}

// row writes a row of the table.
func row(page *strings.Builder, group string, counts [4]int) {
	fmt.Fprintf(page, "| %s | %d | %d | %d | %d |\n", group, counts[0], counts[1], counts[2], counts[3])
}

// count returns for each group how many specs it has, and how many pass: in the cluster, and of these in each view.
func count(all map[string]results) map[string][4]int {
	counts := map[string][4]int{}
	for name, passes := range all[direct] {
		for _, group := range []string{sig.FindStringSubmatch(name)[1], everything} {
			c := counts[group]
			c[0]++
			for i, passes := range []bool{passes, all[relative][name], all[realNames][name]} {
				if passes {
					c[1+i]++
				}
			}
			counts[group] = c
		}
	}
	return counts
}

// failures writes the specs that pass in the cluster and not in all views, by their reasons.
func failures(page *strings.Builder, all map[string]results) {
	lines := map[reason][]string{}
	for _, name := range all[direct].passed() {
		failed := map[reason][]string{}
		for _, view := range []string{relative, realNames} {
			if !all[view][name] {
				why := reasonOf(name, view, all[relative+owner][name] || all[realNames+owner][name])
				failed[why] = append(failed[why], view)
			}
		}
		for why, views := range failed {
			line := "- " + strings.ReplaceAll(name, " [Conformance]", "")
			if len(views) == 1 {
				line += ", with " + views[0] + " names"
			}
			lines[why] = append(lines[why], line)
		}
	}
	ordered := slices.SortedFunc(maps.Keys(lines), func(a, b reason) int {
		return strings.Compare(a.class+a.why, b.class+b.why)
	})
	for i, why := range ordered {
		if i > 0 {
			page.WriteString("\n")
		}
		fmt.Fprintf(page, "**%s:** %s\n\n%s\n", why.class, why.why, strings.Join(lines[why], "\n"))
	}
}

// reasonOf returns why a spec fails in a view, if it passes in one as tree-owner or not.
func reasonOf(name, view string, ownerPassed bool) reason {
	if why, ok := known(name, view); ok {
		return why
	}
	if ownerPassed {
		return ownerPasses
	}
	return unknown
}
