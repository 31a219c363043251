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
	sections := options.New().Flags()
	page.WriteString("\n## hns-apiserver\n")
	for _, name := range sections.Order {
		fmt.Fprintf(&page, "\n### %s%s\n\n", strings.ToUpper(name[:1]), name[1:])
		flagTable(&page, sections.FlagSets[name])
	}
	page.WriteString("\n## hns-propagator\n\n")
	flagTable(&page, propagator.NewCommand("").Flags())
	page.WriteString("\n## hns-sync\n\n")
	flagTable(&page, sync.NewCommand("").Flags())
	page.WriteString("\n## hns-gateway\n\n")
	flagTable(&page, gateway.NewCommand("").Flags())
	return page.String(), nil
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
