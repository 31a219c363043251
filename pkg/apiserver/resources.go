package apiserver

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/alias"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hierarchyplan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/hierarchytree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/mynamespace"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
)

// resources returns the storage of the resources of each version: the same stores under the names of the version.
func (c CompletedConfig) resources(s stores, t *treerules.Tree, mynamespaces *mynamespace.Cache, planner *hierarchyplan.Planner) map[string]map[string]rest.Storage {
	hierarchies, subnamespaces, configuration := s.hierarchies, s.subnamespaces, s.configuration
	moves := &hierarchyplan.DryRunStorage{Resource: hierarchies.Hierarchy, Planner: planner}
	deletions := &hierarchyplan.DryRunStorage{Resource: subnamespaces.Subnamespace, Planner: planner}
	configurations := alias.Names{Kind: "HNCConfiguration", Singular: "hncconfiguration"}
	quotas := alias.Names{Kind: "HierarchicalResourceQuota", Singular: "hierarchicalresourcequota"}
	// v1alpha2 has HNC's fields only. Writes of its clients must not remove the others.
	preserve := alias.Preserve(Scheme, v1alpha2.SchemeGroupVersion)
	older := func(resource alias.Resource, names alias.Names) *alias.REST {
		return &alias.REST{Resource: resource, Names: names, Updates: []rest.TransformFunc{preserve}}
	}
	// Only one version has short names and the category, because kubectl warns about a name of two resources, and would
	// list objects twice.
	named := func(resource alias.Resource, names alias.Names, short ...string) *alias.REST {
		names.Short, names.Categories = short, []string{hnc.Category}
		return &alias.REST{Resource: resource, Names: names}
	}
	responses := inflight.NewResponses()
	all := map[string]map[string]rest.Storage{
		v1beta1.SchemeGroupVersion.Version: {
			"hierarchies":                       named(moves, alias.Names{Kind: "Hierarchy", Singular: "hierarchy"}, "hier"),
			"hierarchies/status":                hierarchies.Status.As("Hierarchy"),
			"hierarchies/tree":                  hierarchytree.New(t.Index, s.hierarchyGetter("0"), responses),
			"hierarchies/plan":                  &hierarchyplan.REST{Planner: planner},
			"subnamespaces":                     named(deletions, alias.Names{Kind: "Subnamespace", Singular: "subnamespace"}, "subns"),
			"subnamespaces/status":              subnamespaces.Status.As("Subnamespace"),
			"hierarchicalresourcequotas":        named(s.quotas.Quota, quotas, "hrq"),
			"hierarchicalresourcequotas/status": s.quotas.Status.As(quotas.Kind),
			"hncconfigurations":                 named(configuration.Configuration, configurations),
			"hncconfigurations/status":          configuration.Status.As("HNCConfiguration"),
		},
		v1alpha3.SchemeGroupVersion.Version: {
			"mynamespaces":           mynamespace.New(mynamespaces, responses),
			"overwrittenobjects":     s.overwritten,
			"copyreleases":           named(s.releases.Release, alias.Names{Kind: "CopyRelease", Singular: "copyrelease"}),
			"copyreleases/status":    s.releases.Status.As("CopyRelease"),
			"repositorysyncs":        named(s.syncs.Sync, alias.Names{Kind: "RepositorySync", Singular: "repositorysync"}),
			"repositorysyncs/status": s.syncs.Status.As("RepositorySync"),
			"tenantviews":            s.views.View,
			"tenantviews/status":     s.views.Status.As("TenantView"),
			"viewdefinitions":        s.definitions.Definition,
			"viewdefinitions/status": s.definitions.Status.As("ViewDefinition"),
		},
		v1alpha2.SchemeGroupVersion.Version: {
			"hierarchyconfigurations":           older(moves, alias.Names{Kind: "HierarchyConfiguration", Singular: "hierarchyconfiguration"}),
			"hierarchyconfigurations/status":    hierarchies.Status.As("HierarchyConfiguration", preserve),
			"subnamespaceanchors":               older(deletions, alias.Names{Kind: "SubnamespaceAnchor", Singular: "subnamespaceanchor"}),
			"subnamespaceanchors/status":        subnamespaces.Status.As("SubnamespaceAnchor", preserve),
			"hierarchicalresourcequotas":        older(s.quotas.Quota, quotas),
			"hierarchicalresourcequotas/status": s.quotas.Status.As(quotas.Kind, preserve),
			"hncconfigurations":                 older(configuration.Configuration, configurations),
			"hncconfigurations/status":          configuration.Status.As("HNCConfiguration", preserve),
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
