package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// completionTimeout limits how long a shell waits for completions.
const completionTimeout = 3 * time.Second

// completer returns candidates for a word.
type completer func(cmd *cobra.Command, word string) []string

// inTime returns the candidates, and none if they take too long.
func (c completer) inTime(cmd *cobra.Command, word string) []string {
	found := make(chan []string, 1)
	go func() { found <- c(cmd, word) }()
	select {
	case candidates := <-found:
		return candidates
	case <-time.After(completionTimeout):
		return nil
	}
}

// CompleteFlag completes the value of a flag of cmd.
func CompleteFlag(cmd *cobra.Command, flag string, complete completer) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		return matching(complete.inTime(cmd, word), nil, word), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // The flag does not exist, or already has a completion.
	}
}

// CompleteArgs completes up to most arguments of the same sort, each candidate once.
func CompleteArgs(most int, complete completer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return matching(complete.inTime(cmd, word), args, word), cobra.ShellCompDirectiveNoFileComp
	}
}

// matching returns the candidates that begin with the word, except those given and those that a shell cannot show as
// they are.
func matching(candidates, given []string, word string) []string {
	var words []string
	for _, candidate := range candidates {
		if strings.HasPrefix(candidate, word) && !slices.Contains(given, candidate) && names.Printable(candidate) == candidate {
			words = append(words, candidate)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// namesOf returns the names of the objects in a list, none if it cannot be read.
func (f *Factory) namesOf(list func(*Clients) (runtime.Object, error)) []string {
	c, err := f.Clients()
	if err != nil {
		return nil
	}
	found, err := list(c)
	if err != nil {
		return nil
	}
	all := make([]string, 0, meta.LenList(found))
	_ = meta.EachListItem(found, func(o runtime.Object) error {
		named, err := meta.Accessor(o)
		if err == nil {
			all = append(all, named.GetName())
		}
		return err
	})
	return all
}

// CompleteNamespaces completes the namespaces that the requester may see.
func (f *Factory) CompleteNamespaces(cmd *cobra.Command, _ string) []string {
	return f.namesOf(func(c *Clients) (runtime.Object, error) {
		return c.Hierarchy.HncV1alpha3().MyNamespaces().List(cmd.Context(), metav1.ListOptions{}) // All users may list these.
	})
}

// completeChildren completes the sub-namespaces of the namespace of -n.
func (f *Factory) completeChildren(cmd *cobra.Command, _ string) []string {
	return f.namesOf(func(c *Clients) (runtime.Object, error) {
		parent, err := f.namespace()
		if err != nil {
			return nil, err
		}
		return c.Hierarchy.HncV1beta1().Subnamespaces(parent).List(cmd.Context(), metav1.ListOptions{})
	})
}

// completeQuotas completes the hierarchical resource quotas in the namespace of -n.
func (f *Factory) completeQuotas(cmd *cobra.Command, _ string) []string {
	return f.namesOf(func(c *Clients) (runtime.Object, error) {
		namespace, err := f.namespace()
		if err != nil {
			return nil, err
		}
		return c.Hierarchy.HncV1beta1().HierarchicalResourceQuotas(namespace).List(cmd.Context(), metav1.ListOptions{})
	})
}

// CompleteRepositorySyncs completes the RepositorySyncs of the cluster.
func (f *Factory) CompleteRepositorySyncs(cmd *cobra.Command, _ string) []string {
	return f.namesOf(func(c *Clients) (runtime.Object, error) {
		return c.Hierarchy.HncV1alpha3().RepositorySyncs().List(cmd.Context(), metav1.ListOptions{})
	})
}

// CompleteResources completes the plural names of namespaced resources that can be listed, with their group unless it
// is the core group.
func (f *Factory) CompleteResources(*cobra.Command, string) []string {
	discovery, err := f.Flags.ToDiscoveryClient()
	if err != nil {
		return nil
	}
	// A group that does not answer must not hide the others.
	lists, _ := discovery.ServerPreferredNamespacedResources()
	var all []string
	for _, list := range lists {
		group, _, grouped := strings.Cut(list.GroupVersion, "/")
		if group == subtreeVersion.Group {
			// It serves the same kinds again.
			continue
		}
		for i := range list.APIResources {
			r := &list.APIResources[i]
			if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "list") {
				continue
			}
			if grouped {
				all = append(all, r.Name+"."+group)
			} else {
				all = append(all, r.Name)
			}
		}
	}
	return all
}
