package repository

import (
	"fmt"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// repoVersions are the supported versions of the layout, which are equivalent.
var repoVersions = []string{"1.0.0", "0.1.0"}

// missingRepo reports a repository without a Repo.
func missingRepo(c *compilation) report.Errors {
	if len(c.ofKind(object.Repo)) > 0 {
		return nil
	}
	return report.Errors{{
		Message: "the directory system/ must contain a Repo object; create it with: kubectl hns repo init",
		Paths:   []string{object.SystemDir + "/"},
	}}
}

// multipleRepos reports a repository with more than one Repo.
func multipleRepos(c *compilation) report.Errors {
	repos := c.ofKind(object.Repo)
	if len(repos) <= 1 {
		return nil
	}
	return report.Errors{{Message: "a repository must contain exactly one Repo object; remove the others", Sources: sources(repos)}}
}

func sources(objects []*object.Object) []report.Source {
	found := make([]report.Source, 0, len(objects))
	for _, o := range objects {
		found = append(found, o.Source("metadata.name"))
	}
	return found
}

func unsupportedRepoVersion(_ *compilation, o *object.Object) finding {
	if !o.Is(object.Repo) {
		return finding{}
	}
	repo, err := decode[repoObject](o)
	if err != nil || slices.Contains(repoVersions, repo.Spec.Version) {
		return finding{}
	}
	return findf("", "spec.version: %q is not supported; set it to %s", repo.Spec.Version, repoVersions[0])
}

// requiredDirs are the top-level directories of kinds that must not be anywhere else.
var requiredDirs = map[schema.GroupKind]string{
	object.Repo:              object.SystemDir,
	object.HierarchyConfig:   object.SystemDir,
	object.Cluster:           object.ClusterRegistryDir,
	object.ClusterSelector:   object.ClusterRegistryDir,
	object.Namespace:         object.NamespacesDir,
	object.NamespaceSelector: object.NamespacesDir,
}

func misplacedKind(_ *compilation, o *object.Object) finding {
	if required, ok := requiredDirs[o.GroupKind()]; ok && o.TopDir() != required {
		return findf("", "a %s must be in the directory %s/; move it there", o.GetKind(), required)
	}
	return finding{}
}

func topLevelNamespace(_ *compilation, o *object.Object) finding {
	if o.Is(object.Namespace) && o.Dir() == object.NamespacesDir {
		return findf("", "a Namespace must be in its own directory; move it to %s/%s/", object.NamespacesDir, o.GetName())
	}
	return finding{}
}

func namespaceNameNotDirectory(_ *compilation, o *object.Object) finding {
	if !o.Is(object.Namespace) || o.TopDir() != object.NamespacesDir || o.Dir() == object.NamespacesDir || o.GetName() == path.Base(o.Dir()) {
		return finding{}
	}
	return findf("metadata.name", "metadata.name: %q is not the name of the directory, %q; rename one of them", o.GetName(), path.Base(o.Dir()))
}

// controllerNamespaces are the namespaces of Config Sync itself.
var controllerNamespaces = []string{"config-management-system", "resource-group-system", "config-management-monitoring"}

func controllerNamespace(_ *compilation, o *object.Object) finding {
	if o.Is(object.Namespace) && slices.Contains(controllerNamespaces, o.GetName()) {
		return findf("metadata.name", "the Namespace %s belongs to Config Sync; remove it from the repository", o.GetName())
	}
	return finding{}
}

func deprecatedKind(_ *compilation, o *object.Object) finding {
	kind := o.GroupKind()
	if kind.Group != "extensions" {
		return finding{}
	}
	message := "the group extensions is no longer served; use the kind's current group"
	if group, ok := successors[kind.Kind]; ok {
		message = fmt.Sprintf("%s.extensions is no longer served; use %s.%s", kind.Kind, kind.Kind, group)
	}
	return finding{"", message}
}

var successors = map[string]string{
	"DaemonSet": "apps", "Deployment": "apps", "ReplicaSet": "apps",
	"Ingress": "networking.k8s.io", "NetworkPolicy": "networking.k8s.io",
	"PodSecurityPolicy": "policy",
}

func unsupportedObject(_ *compilation, o *object.Object) finding {
	switch {
	case o.Is(object.Sync):
		return findf("", "objects of kind Sync are no longer used; remove this one")
	case o.Is(object.CRD):
		if group := crdGroup(o); group == object.ConfigManagementGroup || group == object.ConfigSyncGroup {
			return findf("", "a repository must not define kinds of the group %s; remove it", group)
		}
	}
	return finding{}
}
