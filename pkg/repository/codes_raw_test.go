package repository_test

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

const (
	namespaceFile = "namespaces/eng/shop/namespace.yaml"
	mapFile       = "namespaces/eng/shop/map.yaml"
	engFile       = "namespaces/eng/map.yaml"
)

// readCases are what the loader finds.
var readCases = []codeCase{
	{
		name: "a file is no YAML", code: report.UnreadableFile, at: mapFile,
		bad: small.with(files{mapFile: "a: [b\n"}), fix: files{mapFile: configMap("a", "")},
	},
	{
		name: "a key is set twice", code: report.UnreadableFile, at: mapFile + ":5",
		bad: small.with(files{mapFile: configMap("a", "") + "data: {}\ndata: {}\n"}), fix: files{mapFile: configMap("a", "") + "data: {}\n"},
	},
	{
		name: "a file is no JSON", code: report.UnreadableFile, at: "namespaces/eng/shop/map.json",
		bad: small.with(files{"namespaces/eng/shop/map.json": "{"}), fix: files{"namespaces/eng/shop/map.json": "{\"kind\":\"List\",\"items\":[]}"},
	},
	{
		name: "an object has no kind", code: report.MissingIdentity, at: mapFile + ":1",
		bad: small.with(files{mapFile: "apiVersion: v1\nmetadata: {name: a}\n"}), fix: files{mapFile: configMap("a", "")},
	},
	{
		name: "an object has no name", code: report.MissingIdentity, at: mapFile + ":2",
		bad: small.with(files{mapFile: "\napiVersion: v1\nkind: ConfigMap\nmetadata: {}\n"}), fix: files{mapFile: configMap("a", "")},
	},
	{
		name: "metadata is not an object", code: report.Unparsable, at: mapFile + ":1",
		bad: small.with(files{mapFile: "apiVersion: v1\nkind: ConfigMap\nmetadata: a\n"}), fix: files{mapFile: configMap("a", "")},
	},
	{
		name: "a kind is a path", code: report.Unparsable, at: mapFile + ":1",
		bad: small.with(files{mapFile: core("../Map", "a", "")}), fix: files{mapFile: configMap("a", "")},
	},
	{
		name: "a version is a path", code: report.Unparsable, at: mapFile + ":1",
		bad: small.with(files{mapFile: item("a/b/c", "ConfigMap", "a", "", "")}), fix: files{mapFile: configMap("a", "")},
	},
	{
		name: "a label is a boolean", code: report.InvalidMetadataValue, at: mapFile + ":3",
		bad: small.with(files{mapFile: configMap("a", labeled("x", "yes"))}), fix: files{mapFile: configMap("a", labeled("x", `"yes"`))},
	},
	{
		name: "a UID is set", code: report.IllegalField, at: mapFile + ":3",
		bad: small.with(files{mapFile: configMap("a", "uid: 1f")}), fix: files{mapFile: configMap("a", "uid: null")},
	},
	{
		name: "a status is set", code: report.IllegalField, at: mapFile + ":1",
		bad: small.with(files{mapFile: configMap("a", "") + "status: {phase: Done}\n"}), fix: files{mapFile: configMap("a", "") + "status: {phase: \"\"}\n"},
	},
	{
		name: "the root is Kustomize's", code: report.Kustomization, at: "kustomization.yaml",
		bad: small.with(files{"kustomization.yaml": "resources: []"}), fix: files{"kustomization.yaml": ""},
	},
	{
		name: "a document is too large", code: report.LimitExceeded, at: mapFile + ":1",
		bad: small.with(files{mapFile: strings.Repeat("#", 3<<20+1)}), fix: files{mapFile: strings.Repeat("#", 3<<20)},
	},
}

var rawCases = []codeCase{
	{
		name: "a NamespaceSelector has a cluster selector", code: report.IllegalSelector, at: "namespaces/eng/s.yaml:3",
		bad: small.with(files{"namespaces/eng/s.yaml": item(management, "NamespaceSelector", "s", annotated("configsync.gke.io/cluster-name-selector", "a"), "spec: {selector: {matchLabels: {a: b}}}")}),
		fix: files{"namespaces/eng/s.yaml": namespaceSelector("s", "{selector: {matchLabels: {a: b}}}")},
	},
	{
		name: "managed is enabled", code: report.IllegalManaged, at: mapFile + ":3",
		bad: small.with(files{mapFile: configMap("a", annotated("configmanagement.gke.io/managed", "enabled"))}),
		fix: files{mapFile: configMap("a", annotated("configmanagement.gke.io/managed", "disabled"))},
	},
	{
		name: "a Repo's version is a number", code: report.Unparsable, at: "system/repo.yaml:1",
		bad: files{"system/repo.yaml": item(management, "Repo", "repo", "", "spec: {version: 1}\n")}, fix: minimal,
	},
	{
		name: "the namespace is another one", code: report.NamespaceNotDirectory, at: mapFile + ":3",
		bad: small.with(files{mapFile: configMap("a", "namespace: other")}), fix: files{mapFile: configMap("a", "namespace: shop")},
	},
	{
		name: "the namespace in an abstract directory is another one", code: report.NamespaceNotDirectory, at: engFile + ":3",
		bad: small.with(files{engFile: configMap("a", "namespace: shop")}), fix: files{engFile: configMap("a", "namespace: eng")},
	},
	{
		name: "an annotation is reserved", code: report.ReservedAnnotation, at: mapFile + ":3",
		bad: small.with(files{mapFile: configMap("a", annotated("configsync.gke.io/resource-id", "a"))}),
		fix: files{mapFile: configMap("a", annotated("configsync.gke.io/deletion-propagation-policy", "Foreground"))},
	},
	{
		name: "a label is reserved", code: report.ReservedLabel, at: mapFile + ":3",
		bad: small.with(files{mapFile: configMap("a", labeled("configmanagement.gke.io/system", "a"))}),
		fix: files{mapFile: configMap("a", labeled("example.configmanagement.gke.io/system", "a"))},
	},
	{name: "there is no Repo", code: report.MissingRepo, at: "system/", bad: files{}, fix: minimal},
	{
		name: "a Namespace is directly in namespaces", code: report.IllegalTopLevelNamespace, at: "namespaces/shop.yaml:1",
		bad: minimal.with(files{"namespaces/shop.yaml": namespace("shop", "")}),
		fix: files{"namespaces/shop.yaml": "", "namespaces/shop/shop.yaml": namespace("shop", "")},
	},
	{
		name: "a Namespace has another name than its directory", code: report.NamespaceNameNotDirectory, at: namespaceFile + ":3",
		bad: small.with(files{namespaceFile: namespace("store", "")}), fix: files{namespaceFile: namespace("shop", "")},
	},
	{
		name: "the version is not supported", code: report.UnsupportedRepoVersion, at: "system/repo.yaml:1",
		bad: files{"system/repo.yaml": item(management, "Repo", "repo", "", "spec: {version: 2.0.0}\n")},
		fix: files{"system/repo.yaml": item(management, "Repo", "any-name", "", "spec: {version: 0.1.0}\n")},
	},
	{
		name: "two NamespaceSelectors share a name", code: report.NameCollision, at: "namespaces/a.yaml:3",
		bad: small.with(files{"namespaces/a.yaml": namespaceSelector("s", "{selector: {matchLabels: {a: b}}}"), "namespaces/eng/b.yaml": namespaceSelector("s", "{selector: {matchLabels: {a: b}}}")}),
		fix: files{"namespaces/eng/b.yaml": namespaceSelector("t", "{selector: {matchLabels: {a: b}}}")},
	},
	{
		name: "a Namespace is Config Sync's", code: report.ControllerNamespace, at: "namespaces/resource-group-system/n.yaml:3",
		bad: minimal.with(files{"namespaces/resource-group-system/n.yaml": namespace("resource-group-system", "")}),
		fix: files{"namespaces/resource-group-system/n.yaml": "", "namespaces/resource-group-system/shop/n.yaml": namespace("shop", "")},
	},
	{
		name: "a name is not valid", code: report.InvalidName, at: mapFile + ":3",
		bad: small.with(files{mapFile: configMap("A_b", "")}), fix: files{mapFile: role("A:b")},
	},
	{
		name: "a name in RBAC is no path segment", code: report.InvalidName, at: mapFile + ":3",
		bad: small.with(files{mapFile: role("a/b")}), fix: files{mapFile: role("a:b")},
	},
	{
		name: "a HierarchyConfig is in namespaces", code: report.IllegalTopLevelDirectory, at: "namespaces/h.yaml:1",
		bad: small.with(files{"namespaces/h.yaml": hierarchyConfig("")}), fix: files{"namespaces/h.yaml": "", "system/h.yaml": hierarchyConfig("")},
	},
	{
		name: "a Namespace is in cluster", code: report.IllegalTopLevelDirectory, at: "cluster/shop/n.yaml:1",
		bad: minimal.with(files{"cluster/shop/n.yaml": namespace("shop", "")}), fix: files{"cluster/shop/n.yaml": "", "namespaces/shop/n.yaml": namespace("shop", "")},
	},
	{
		name: "a name is not a label", code: report.InvalidNamespace, at: "namespaces/a.b/n.yaml:3",
		bad: minimal.with(files{"namespaces/a.b/n.yaml": namespace("a.b", "")}), fix: files{"namespaces/a.b/n.yaml": "", "namespaces/ab/n.yaml": namespace("ab", "")},
	},
	{
		name: "a directory and the namespace of its object are no label", code: report.InvalidNamespace, at: "cluster/role.yaml:3",
		bad: minimal.with(files{"cluster/role.yaml": clusterRole("r", "namespace: A_b")}), fix: files{"cluster/role.yaml": clusterRole("r", "")},
	},
	{
		name: "an object claims to be a copy", code: report.ReservedMetadata, at: mapFile + ":3",
		bad: small.with(files{mapFile: configMap("a", labeled("hnc.x-k8s.io/inherited-from", "eng"))}), fix: files{mapFile: configMap("a", labeled("hnc.x-k8s.io/inherited", "eng"))},
	},
	{
		name: "a Namespace claims to be a sub-namespace", code: report.ReservedMetadata, at: namespaceFile + ":3",
		bad: small.with(files{namespaceFile: namespace("shop", annotated("hnc.x-k8s.io/subnamespace-of", "eng"))}),
		fix: files{namespaceFile: namespace("shop", annotated("hnc.x-k8s.io/managed-by", "eng"))},
	},
	{
		name: "a Namespace claims to have abstract ancestors", code: report.ReservedMetadata, at: namespaceFile + ":3",
		bad: small.with(files{namespaceFile: namespace("shop", annotated("hnc.x-k8s.io/abstract-ancestors", "eng"))}),
		fix: files{namespaceFile: namespace("shop", annotated("hnc.x-k8s.io/managed-by", "eng"))},
	},
	{
		name: "a tree label is set", code: report.TreeLabel, at: namespaceFile + ":3",
		bad: small.with(files{namespaceFile: namespace("shop", labeled("eng.tree.hnc.x-k8s.io/depth", `"1"`))}), fix: files{namespaceFile: namespace("shop", labeled("eng.tree.hnc.x-k8s.io/depths", `"1"`))},
	},
	{
		name: "there are two Repos", code: report.MultipleSingletons, at: "system/repo.yaml:3",
		bad: minimal.with(files{"system/sub/repo.yaml": minimal["system/repo.yaml"]}),
		fix: files{"system/sub/repo.yaml": ""},
	},
}

var kindCases = []codeCase{
	{
		name: "a Sync", code: report.UnsupportedObject, at: "system/sync.yaml:1",
		bad: minimal.with(files{"system/sync.yaml": item(management, "Sync", "s", "", "")}), fix: files{"system/sync.yaml": ""},
	},
	{
		name: "a CRD of a reserved group", code: report.UnsupportedObject, at: "cluster/crd.yaml:1",
		bad: minimal.with(files{"cluster/crd.yaml": crd("widgets.configsync.gke.io", "configsync.gke.io", "Cluster")}),
		fix: files{"cluster/crd.yaml": crd("widgets.example.com", "example.com", "Cluster")},
	},
	{
		name: "a CRD was removed and its objects stay", code: report.RemovedCRD, at: mapFile + ":1",
		bad:     small.with(files{mapFile: item("example.com/v1", "Widget", "w", "", "")}),
		fix:     files{"cluster/crd.yaml": crd("widgets.example.com", "example.com", "Namespaced")},
		options: repository.Options{PreviousKinds: []schema.GroupKind{{Group: "example.com", Kind: "Widget"}}},
	},
	{
		name: "a CRD has another name", code: report.InvalidCRDName, at: "cluster/crd.yaml:3",
		bad: minimal.with(files{"cluster/crd.yaml": crd("widget.example.com", "example.com", "Cluster")}),
		fix: files{"cluster/crd.yaml": crd("widgets.example.com", "example.com", "Cluster")},
	},
	{
		name: "a CRD has no scope", code: report.MalformedCRD, at: "cluster/crd.yaml:1",
		bad: minimal.with(files{"cluster/crd.yaml": crd("widgets.example.com", "example.com", "Global")}),
		fix: files{"cluster/crd.yaml": crd("widgets.example.com", "example.com", "Cluster")},
	},
	{
		name: "a kind of extensions", code: report.DeprecatedKind, at: mapFile + ":1",
		bad: small.with(files{mapFile: item("extensions/v1beta1", "Deployment", "d", "", "")}), fix: files{mapFile: item("apps/v1", "Deployment", "d", "", "")},
		options: repository.Options{AssumeScopes: true},
	},
	{
		name: "a kind that the cluster does not serve", code: report.UnknownKind, at: mapFile + ":1",
		bad: small.with(files{mapFile: item("example.com/v1", "Widget", "w", "", "")}),
		fix: files{"cluster/crd.yaml": crd("widgets.example.com", "example.com", "Namespaced")},
	},
	{
		name: "a kind that nobody knows offline", code: report.UnknownKind, at: mapFile + ":1", warning: true,
		bad: small.with(files{mapFile: item("example.com/v1", "Widget", "w", "", "")}), fix: files{mapFile: item("apps/v1", "Deployment", "d", "", "")},
		options: repository.Options{AssumeScopes: true},
	},
}
