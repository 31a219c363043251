package migration

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/restmapper"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/sourceindex"
)

// overwrites returns the kinds of which sources would overwrite local objects, which HNC has not overwritten. The API
// server rejects the parents of the namespaces with such objects when the others are stored. If the user leaves out
// what is rejected, the entries of these kinds keep the objects; Roles and RoleBindings have no entries.
func (m *Migration) overwrites(ctx context.Context, all *imports) ([]rejection, error) {
	client, err := metadata.NewForConfig(m.config)
	if err != nil {
		return nil, err
	}
	modes, err := m.modes(ctx, all)
	if err != nil {
		return nil, err
	}
	s := sourceindex.New(sourceindex.Config{
		Metadata: client, Kubernetes: m.kube, Mapper: kinds.NewMapper(restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(m.kube.Discovery()))),
		Rules: func() *copies.Rules { return &all.rules.Copies },
	})
	writes, unknown := s.AllOverwritten(ctx, modes, all.destinations())
	if err := m.printList("It is not known whether copies of these kinds would overwrite objects of the same names:", unknown); err != nil {
		return nil, err
	}
	byKind := map[schema.GroupResource][]copies.Write{}
	for _, w := range writes {
		byKind[w.Kind.GroupResource()] = append(byKind[w.Kind.GroupResource()], w)
	}
	var found []rejection
	for kind, writes := range byKind {
		what := describeOverwrites(writes)
		at := slices.IndexFunc(all.resources, func(r v1beta1.ResourceSpec) bool { return r.Group == kind.Group && r.Resource == kind.Resource })
		if at < 0 {
			found = append(found, rejection{kind.String(), what + "; rename or delete these, or rename those above", true})
			continue
		}
		if m.SkipRejected {
			all.resources[at].OnConflict = v1beta1.Keep
		}
		found = append(found, rejection{configurationKey, fmt.Sprintf("the entry for %s: %s; rename or delete these, or set another mode for the kind, with HNC's plugin; "+
			"with --skip-rejected they stay, by onConflict: Keep", kind.Resource, what), false})
	}
	return found, nil
}

// modes returns the modes of kinds after the import.
func (m *Migration) modes(ctx context.Context, all *imports) (sourceindex.Modes, error) {
	var modes sourceindex.Modes
	current, err := m.hierarchy.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if err := gone(err); err != nil {
		return modes, err
	}
	if err == nil {
		modes.OnConflict = hnc.ConflictPolicy(current.Spec.OnConflict)
	}
	for _, r := range all.resources {
		var spec hnc.ResourceSpec
		if err := v1beta1.Convert_v1beta1_ResourceSpec_To_hnc_ResourceSpec(&r, &spec, nil); err != nil {
			return modes, err
		}
		modes.Cluster = append(modes.Cluster, spec)
	}
	return modes, nil
}

// destinations returns the namespaces that inherit. Like the API server while it imports them, it takes namespaces with
// missing parents for roots.
func (all *imports) destinations() iter.Seq[copies.Destination] {
	return func(yield func(copies.Destination) bool) {
		for _, name := range slices.Sorted(maps.Keys(all.parents)) {
			above := all.above(name)
			if ns := all.namespaces[name]; len(above) == 0 || ns.Terminating {
				continue
			}
			slices.Reverse(above)
			d := copies.Destination{Namespace: name, Ancestors: above, Labels: func(namespace string) map[string]string { return all.namespaces[namespace].Labels }}
			before := d
			if d.Before = &before; !yield(d) {
				return
			}
		}
	}
}

// describeOverwrites names some of the objects of a kind that would be overwritten.
func describeOverwrites(writes []copies.Write) string {
	slices.SortFunc(writes, func(a, b copies.Write) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	var named []string
	for _, w := range writes[:min(len(writes), examples)] {
		named = append(named, fmt.Sprintf("%s in %s by that of %s", w.Name, w.Namespace, w.From()))
	}
	return fmt.Sprintf("copies would overwrite %d objects that HNC has left alone, such as %s", len(writes), strings.Join(named, ", "))
}
