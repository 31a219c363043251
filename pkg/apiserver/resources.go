package apiserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/alias"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/copyrelease"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hierarchy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hierarchyplan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hierarchytree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hncconfiguration"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/mynamespace"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/overwrittenobject"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/subnamespace"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
)

// stores are what the resources are served from.
type stores struct {
	hierarchies   *hierarchy.Storage
	subnamespaces *subnamespace.Storage
	configuration *hncconfiguration.Storage
	overwritten   *overwrittenobject.REST
	releases      *copyrelease.Storage
}

func (c CompletedConfig) stores(options fencedOptions, t *tree.Tree, mapper *kinds.Mapper) (s stores, err error) {
	if s.hierarchies, err = hierarchy.NewStorage(Scheme, options, t, mapper); err != nil {
		return s, fmt.Errorf("hierarchies: %w", err)
	}
	if s.subnamespaces, err = subnamespace.NewStorage(Scheme, options, t, s.at(""), c.subnamespaceReady); err != nil {
		return s, fmt.Errorf("subnamespaces: %w", err)
	}
	if s.configuration, err = hncconfiguration.NewStorage(Scheme, options, mapper, c.reviews, t, c.inForce); err != nil {
		return s, fmt.Errorf("hncconfigurations: %w", err)
	}
	if s.releases, err = copyrelease.NewStorage(Scheme, options, t); err != nil {
		return s, fmt.Errorf("copyreleases: %w", err)
	}
	if s.overwritten, err = overwrittenobject.NewStorage(Scheme, options, c.reviews, t.Index.Root, c.overwrittenTTL); err != nil {
		return s, fmt.Errorf("overwrittenobjects: %w", err)
	}
	return s, nil
}

// at returns how to get the hierarchy of a namespace: at version "" the one that is stored, at "0" the one that is cached.
func (s stores) at(version string) tree.HierarchyGetter {
	return func(ctx context.Context, namespace string) (*hnc.Hierarchy, error) {
		obj, err := s.hierarchies.Hierarchy.Get(genericapirequest.WithNamespace(ctx, namespace), hnc.Singleton, &metav1.GetOptions{ResourceVersion: version})
		if err != nil {
			return nil, err
		}
		return obj.(*hnc.Hierarchy), nil
	}
}

// resources returns the storage of each version's resources: the same stores under each version's names.
func (c CompletedConfig) resources(s stores, t *tree.Tree, picture *mynamespace.Cache, planner *hierarchyplan.Planner) map[string]map[string]rest.Storage {
	hierarchies, subnamespaces, configuration := s.hierarchies, s.subnamespaces, s.configuration
	moves := &hierarchyplan.DryRunStorage{Resource: hierarchies.Hierarchy, Planner: planner}
	deletions := &hierarchyplan.DryRunStorage{Resource: subnamespaces.Subnamespace, Planner: planner}
	configurations := alias.Names{Kind: "HNCConfiguration", Singular: "hncconfiguration"}
	// v1alpha2 has HNC's fields only, and its clients know no others: what they write must not take the others away.
	preserve := alias.Preserve(Scheme, v1alpha2.SchemeGroupVersion)
	older := func(resource alias.Resource, names alias.Names) *alias.REST {
		return &alias.REST{Resource: resource, Names: names, Updates: []rest.TransformFunc{preserve}}
	}
	// The short name is in one version only: kubectl warns of a name that stands for two resources.
	all := map[string]map[string]rest.Storage{
		v1beta1.SchemeGroupVersion.Version: {
			"hierarchies":              &alias.REST{Resource: moves, Names: alias.Names{Kind: "Hierarchy", Singular: "hierarchy"}},
			"hierarchies/status":       hierarchies.Status.As("Hierarchy"),
			"hierarchies/tree":         hierarchytree.New(t.Index, s.at("0")),
			"hierarchies/plan":         &hierarchyplan.REST{Planner: planner},
			"mynamespaces":             mynamespace.New(picture),
			"overwrittenobjects":       s.overwritten,
			"copyreleases":             s.releases.Release,
			"copyreleases/status":      s.releases.Status.As("CopyRelease"),
			"subnamespaces":            &alias.REST{Resource: deletions, Names: alias.Names{Kind: "Subnamespace", Singular: "subnamespace", Short: []string{"subns"}}},
			"subnamespaces/status":     subnamespaces.Status.As("Subnamespace"),
			"hncconfigurations":        &alias.REST{Resource: configuration.Configuration, Names: configurations},
			"hncconfigurations/status": configuration.Status.As("HNCConfiguration"),
		},
		v1alpha2.SchemeGroupVersion.Version: {
			"hierarchyconfigurations":        older(moves, alias.Names{Kind: "HierarchyConfiguration", Singular: "hierarchyconfiguration"}),
			"hierarchyconfigurations/status": hierarchies.Status.As("HierarchyConfiguration", preserve),
			"subnamespaceanchors":            older(deletions, alias.Names{Kind: "SubnamespaceAnchor", Singular: "subnamespaceanchor"}),
			"subnamespaceanchors/status":     subnamespaces.Status.As("SubnamespaceAnchor", preserve),
			"hncconfigurations":              older(configuration.Configuration, configurations),
			"hncconfigurations/status":       configuration.Status.As("HNCConfiguration", preserve),
		},
	}
	for version, resources := range all {
		gv := schema.GroupVersion{Group: hnc.GroupName, Version: version}
		for resource := range resources {
			name, _, _ := strings.Cut(resource, "/")
			if !c.generic.MergedResourceConfig.ResourceEnabled(gv.WithResource(name)) {
				delete(resources, resource)
			}
		}
		if len(resources) == 0 {
			delete(all, version)
		}
	}
	return all
}

// reportRules has the status of the configuration report the rules of this server, as soon as the store can be written.
func reportRules(ctx context.Context, s *hncconfiguration.Storage) {
	_ = wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		err := s.ReportRules(ctx)
		if err != nil {
			klog.FromContext(ctx).Error(err, "Can't report the rules in force; trying again")
		}
		return err == nil, nil
	})
}
