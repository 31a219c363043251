package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	gateway "github.com/hierarchy-apiserver/hierarchy-apiserver/cmd/hns-gateway/app"
	propagator "github.com/hierarchy-apiserver/hierarchy-apiserver/cmd/hns-propagator/app"
	sync "github.com/hierarchy-apiserver/hierarchy-apiserver/cmd/hns-sync/app"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apiserver/options"
)

// flags writes the page of the servers' flags.
func flags() (string, error) {
	var page strings.Builder
	page.WriteString("# Flags of the servers\n\nEach server's `--help` says the same. [Configuration](../configuration.md) explains those that you are likely to set.\n")
	for _, section := range flagSections() {
		fmt.Fprintf(&page, "\n%s\n\n", section.title)
		flagTable(&page, section.flags)
	}
	return page.String(), nil
}

// flagSection is a part of the page: the flags of a server, or those of hns-apiserver about one subject.
type flagSection struct {
	title string
	flags *pflag.FlagSet
}

// flagSections returns the flags of all servers.
func flagSections() []flagSection {
	var all []flagSection
	title, sections := "## hns-apiserver\n\n", options.New().Flags()
	for _, name := range sections.Order {
		all = append(all, flagSection{title + "### " + strings.ToUpper(name[:1]) + name[1:], sections.FlagSets[name]})
		title = ""
	}
	return append(all,
		flagSection{"## hns-propagator", propagator.NewCommand("").Flags()},
		flagSection{"## hns-sync", sync.NewCommand("").Flags()},
		flagSection{"## hns-gateway", gateway.NewCommand("").Flags()},
	)
}

// flagTable writes a row for each flag that a user may set.
func flagTable(page *strings.Builder, set *pflag.FlagSet) {
	page.WriteString("| Flag | Default | Meaning |\n| --- | --- | --- |\n")
	set.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden || flag.Deprecated != "" {
			return
		}
		kind, usage := pflag.UnquoteUsage(flag)
		name := "--" + flag.Name
		if kind != "" {
			name += "=" + strings.ToUpper(kind)
		}
		// Lists of all feature gates are the libraries' and change with them.
		usage, _, _ = strings.Cut(usage, "\n")
		value := flag.DefValue
		if value == "[]" || len(value) > 200 {
			value = ""
		}
		fmt.Fprintf(page, "| %s | %s | %s |\n", code(name), code(value), cell(usage))
	})
}
