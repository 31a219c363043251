package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// completionTimeout is how long somebody who has pressed the tabulator waits.
const completionTimeout = 3 * time.Second

// completer returns what a word may become, as far as the cluster tells.
type completer func(cmd *cobra.Command, word string) []string

// completeFlag completes the value of a flag that cmd has.
func (e *Environment) completeFlag(cmd *cobra.Command, flag string, complete completer) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return matching(complete(cmd, word), nil, word), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // The flag does not exist, or has been given a completion twice.
	}
}

// completeArgs completes up to most arguments that are all of one sort, each once.
func completeArgs(most int, complete completer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return matching(complete(cmd, word), args, word), cobra.ShellCompDirectiveNoFileComp
	}
}

func matching(candidates, given []string, word string) []string {
	var words []string
	for _, candidate := range candidates {
		if strings.HasPrefix(candidate, word) && !slices.Contains(given, candidate) {
			words = append(words, candidate)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

func (e *Environment) completeNamespaces(cmd *cobra.Command, _ string) []string {
	c, err := e.connect()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	// Everybody may list those that they may see.
	list, err := c.hierarchy.HncV1beta1().MyNamespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// completeChildren completes the sub-namespaces of the namespace that is acted on.
func (e *Environment) completeChildren(cmd *cobra.Command, _ string) []string {
	c, err := e.connect()
	if err != nil {
		return nil
	}
	parent, err := e.namespace()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	list, err := c.hierarchy.HncV1beta1().Subnamespaces(parent).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// completeResources completes the plural names of namespaced resources that can be listed; those outside the core group with their group.
func (e *Environment) completeResources(*cobra.Command, string) []string {
	discovery, err := e.flags.ToDiscoveryClient()
	if err != nil {
		return nil
	}
	// What some groups do not answer must not hide the others.
	lists, _ := discovery.ServerPreferredNamespacedResources()
	var names []string
	for _, list := range lists {
		group, _, grouped := strings.Cut(list.GroupVersion, "/")
		if group == subtreeVersion.Group {
			// The same kinds again.
			continue
		}
		for i := range list.APIResources {
			r := &list.APIResources[i]
			if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "list") {
				continue
			}
			if grouped {
				names = append(names, r.Name+"."+group)
			} else {
				names = append(names, r.Name)
			}
		}
	}
	return names
}
