package repository_test

import (
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

const (
	selectorKey     = "configmanagement.gke.io/namespace-selector"
	clusterKey      = "configmanagement.gke.io/cluster-selector"
	clusterNameKey  = "configsync.gke.io/cluster-name-selector"
	selectorFile    = "namespaces/eng/selector.yaml"
	clusterSelFile  = "clusterregistry/selector.yaml"
	validSelector   = "{selector: {matchLabels: {a: b}}}"
	hierarchyFile   = "system/hierarchy.yaml"
	clusterRoleFile = "cluster/role.yaml"
)

var clusterCases = []codeCase{
	{
		name: "there is no such ClusterSelector", code: report.UnknownSelector, at: mapFile + ":3",
		bad: small.with(files{mapFile: configMap("a", annotated(clusterKey, "s"))}), fix: files{clusterSelFile: clusterSelector("s", validSelector)},
	},
	{
		name: "a ClusterSelector is empty", code: report.InvalidSelector, at: clusterSelFile + ":1",
		bad: small.with(files{clusterSelFile: clusterSelector("s", "{selector: {}}")}), fix: files{clusterSelFile: clusterSelector("s", validSelector)},
	},
	{
		name: "an object has both annotations", code: report.ConflictingSelectors, at: mapFile + ":3",
		bad: small.with(files{
			clusterSelFile: clusterSelector("s", validSelector),
			mapFile:        configMap("a", "annotations: {"+clusterKey+": s, "+clusterNameKey+": c}"),
		}),
		fix: files{mapFile: configMap("a", annotated(clusterKey, "s"))},
	},
}

var scopeCases = []codeCase{
	{
		name: "a cluster-scoped object has a namespace selector", code: report.IllegalSelector, at: clusterRoleFile + ":3",
		bad: minimal.with(files{clusterRoleFile: clusterRole("r", annotated(selectorKey, "s"))}), fix: files{clusterRoleFile: clusterRole("r", "")},
	},
	{
		name: "a Namespace has a namespace selector", code: report.IllegalSelector, at: namespaceFile + ":3",
		bad: small.with(files{selectorFile: namespaceSelector("s", validSelector), namespaceFile: namespace("shop", annotated(selectorKey, "s"))}),
		fix: files{namespaceFile: namespace("shop", "")},
	},
	{
		name: "a cluster-scoped object has a namespace", code: report.IllegalNamespace, at: clusterRoleFile + ":3",
		bad: minimal.with(files{clusterRoleFile: clusterRole("r", "namespace: a")}), fix: files{clusterRoleFile: clusterRole("r", "")},
	},
	{
		name: "an object in a namespace has a selector", code: report.NamespaceAndSelector, at: mapFile + ":3",
		bad: small.with(files{selectorFile: namespaceSelector("s", validSelector), mapFile: configMap("a", annotated(selectorKey, "s"))}),
		fix: files{mapFile: "", engFile: configMap("a", annotated(selectorKey, "s"))},
	},
	{
		name: "an abstract directory with the name of a namespace counts as that", code: report.NamespaceAndSelector, at: "namespaces/x/shop/map.yaml:3",
		bad: small.with(files{
			"namespaces/s.yaml":                 namespaceSelector("s", validSelector),
			"namespaces/x/shop/map.yaml":        configMap("a", annotated(selectorKey, "s")),
			"namespaces/x/shop/north/name.yaml": namespace("north", ""),
		}),
		fix:     files{"namespaces/x/shop/map.yaml": "", "namespaces/x/map.yaml": configMap("a", annotated(selectorKey, "s"))},
		options: repository.Options{AllowSharedNames: true},
	},
	{
		name: "a cluster-scoped object is in a namespace", code: report.IllegalTopLevelDirectory, at: "namespaces/eng/shop/role.yaml:1",
		bad: small.with(files{"namespaces/eng/shop/role.yaml": clusterRole("r", "")}),
		fix: files{"namespaces/eng/shop/role.yaml": "", "cluster/eng/shop/role.yaml": clusterRole("r", "")},
	},
	{
		name: "a namespaced object is in cluster", code: report.IllegalTopLevelDirectory, at: "cluster/map.yaml:1",
		bad: small.with(files{"cluster/map.yaml": configMap("a", "")}), fix: files{"cluster/map.yaml": "", engFile: configMap("a", "")},
	},
	{
		name: "an object is in system", code: report.IllegalTopLevelDirectory, at: "system/map.yaml:1",
		bad: minimal.with(files{"system/map.yaml": clusterRole("a", "")}), fix: files{"system/map.yaml": "", clusterRoleFile: clusterRole("a", "")},
	},
}

var treeCases = []codeCase{
	{
		name: "there is no such NamespaceSelector", code: report.UnknownSelector, at: engFile + ":3",
		bad: small.with(files{engFile: configMap("a", annotated(selectorKey, "s"))}), fix: files{selectorFile: namespaceSelector("s", validSelector)},
	},
	{
		name: "a NamespaceSelector is in a namespace", code: report.SelectorInNamespace, at: "namespaces/eng/shop/s.yaml:3",
		bad: small.with(files{"namespaces/eng/shop/s.yaml": namespaceSelector("s", validSelector)}),
		fix: files{"namespaces/eng/shop/s.yaml": "", selectorFile: namespaceSelector("s", validSelector)},
	},
	{
		name: "a HierarchyConfig lists Namespaces", code: report.UnsupportedInherited, at: hierarchyFile + ":1",
		bad: minimal.with(files{hierarchyFile: hierarchyConfig("{group: '', kinds: [Namespace]}")}), fix: files{hierarchyFile: hierarchyConfig("{group: '', kinds: [Secret, Unknown]}")},
	},
	{
		name: "a HierarchyConfig lists a kind of the repository", code: report.UnsupportedInherited, at: hierarchyFile + ":1",
		bad: minimal.with(files{hierarchyFile: hierarchyConfig("{group: configmanagement.gke.io, kinds: [Repo]}")}), fix: files{hierarchyFile: hierarchyConfig("")},
	},
	{
		name: "a HierarchyConfig lists no kinds", code: report.UnsupportedInherited, at: hierarchyFile + ":1",
		bad: minimal.with(files{hierarchyFile: hierarchyConfig("{group: apps}")}), fix: files{hierarchyFile: hierarchyConfig("{group: apps, kinds: [Deployment]}")},
	},
	{
		name: "a HierarchyConfig has another mode", code: report.IllegalHierarchyMode, at: hierarchyFile + ":1",
		bad: minimal.with(files{hierarchyFile: hierarchyConfig("{kinds: [Secret], hierarchyMode: quota}")}), fix: files{hierarchyFile: hierarchyConfig("{kinds: [Secret], hierarchyMode: none}")},
	},
	{
		name: "a leaf has no Namespace", code: report.UnsyncableDirectory, at: "namespaces/eng/store",
		bad: small.with(files{"namespaces/eng/store/map.yaml": configMap("a", "")}), fix: files{"namespaces/eng/store/n.yaml": namespace("store", "")},
	},
	{
		name: "no Namespace is below", code: report.UnsyncableDirectory, at: "namespaces",
		bad: minimal.with(files{"namespaces/map.yaml": configMap("a", "")}), fix: files{"namespaces/a/b/n.yaml": namespace("b", "")},
	},
	{
		name: "a HierarchyConfig lists a cluster-scoped kind", code: report.ClusterScopedInherited, at: hierarchyFile + ":1",
		bad: minimal.with(files{clusterRoleFile: clusterRole("r", ""), hierarchyFile: hierarchyConfig("{group: rbac.authorization.k8s.io, kinds: [ClusterRole]}")}),
		fix: files{clusterRoleFile: ""},
	},
	{
		name: "a directory has two Namespaces", code: report.MultipleSingletons, at: namespaceFile + ":3",
		bad: small.with(files{"namespaces/eng/shop/second.yaml": namespace("shop", "")}), fix: files{"namespaces/eng/shop/second.yaml": namespace("shop", annotated(clusterNameKey, "other"))},
	},
	{
		name: "an abstract directory is not a label", code: report.InvalidDirectory, at: "namespaces/Eng_1",
		bad: minimal.with(files{"namespaces/Eng_1/shop/n.yaml": namespace("shop", "")}), fix: files{"namespaces/Eng_1/shop/n.yaml": "", "namespaces/eng-1/shop/n.yaml": namespace("shop", "")},
	},
	{
		name: "an abstract directory has the name of an excluded namespace", code: report.ReservedDirectory, at: "namespaces/kube-system",
		bad: minimal.with(files{"namespaces/kube-system/shop/n.yaml": namespace("shop", "")}), fix: files{"namespaces/kube-system/n.yaml": namespace("kube-system", ""), "namespaces/kube-system/shop/n.yaml": ""},
		options: repository.Options{Excluded: []string{"kube-system"}},
	},
	{
		name: "an excluded namespace is below an abstract directory", code: report.ExcludedNamespace, at: "namespaces/eng/kube-system", warning: true,
		bad:     small.with(files{"namespaces/eng/kube-system/n.yaml": namespace("kube-system", "")}),
		fix:     files{"namespaces/eng/kube-system/n.yaml": "", "namespaces/kube-system/n.yaml": namespace("kube-system", "")},
		options: repository.Options{Excluded: []string{"kube-system"}},
	},
	{
		name: "an abstract directory has the name of a namespace", code: report.SharedName, at: "namespaces/x/shop", warning: true,
		bad: small.with(files{"namespaces/x/shop/north/n.yaml": namespace("north", "")}), fix: files{"namespaces/x/shop/north/n.yaml": "", "namespaces/x/eng/north/n.yaml": namespace("north", "")},
	},
}

var inheritanceCases = []codeCase{
	{
		name: "a namespace has a sub-directory", code: report.IllegalSubdirectory, at: "namespaces/eng/n.yaml:3",
		bad: small.with(files{"namespaces/eng/n.yaml": namespace("eng", "")}), fix: files{"namespaces/eng/n.yaml": ""},
	},
	{
		name: "a kind is not inherited", code: report.IllegalKindInAbstract, at: engFile + ":1",
		bad: small.with(files{engFile: configMap("a", ""), hierarchyFile: hierarchyConfig("{kinds: [ConfigMap], hierarchyMode: none}")}),
		fix: files{engFile: "", mapFile: configMap("a", "")},
	},
	{
		name: "a NamespaceSelector is out of reach", code: report.UnknownSelector, at: engFile + ":3",
		bad: small.with(files{
			"namespaces/ops/s.yaml": namespaceSelector("s", validSelector), "namespaces/ops/site/n.yaml": namespace("site", ""),
			engFile: configMap("a", annotated(selectorKey, "s")),
		}),
		fix: files{"namespaces/ops/s.yaml": "", "namespaces/s.yaml": namespaceSelector("s", validSelector)},
	},
	{
		name: "a NamespaceSelector is reached by a prefix", code: report.SelectorPrefix, at: "namespaces/eng-2/map.yaml:3", warning: true,
		bad: small.with(files{
			selectorFile: namespaceSelector("s", validSelector), "namespaces/eng-2/site/n.yaml": namespace("site", ""),
			"namespaces/eng-2/map.yaml": configMap("a", annotated(selectorKey, "s")),
		}),
		fix: files{selectorFile: "", "namespaces/s.yaml": namespaceSelector("s", validSelector)},
	},
	{
		name: "a NamespaceSelector is empty", code: report.InvalidSelector, at: selectorFile + ":1",
		bad: small.with(files{selectorFile: namespaceSelector("s", "{selector: {}}")}), fix: files{selectorFile: namespaceSelector("s", validSelector)},
	},
	{
		name: "a NamespaceSelector is invalid", code: report.InvalidSelector, at: selectorFile + ":1",
		bad: small.with(files{selectorFile: namespaceSelector("s", "{selector: {matchExpressions: [{key: a, operator: Like}]}}")}),
		fix: files{selectorFile: namespaceSelector("s", "{selector: {matchExpressions: [{key: a, operator: Exists}]}}")},
	},
	{
		name: "a NamespaceSelector is dynamic", code: report.InvalidSelector, at: selectorFile + ":1",
		bad: small.with(files{selectorFile: namespaceSelector("s", "{mode: dynamic, selector: {matchLabels: {a: b}}}")}),
		fix: files{selectorFile: namespaceSelector("s", "{mode: static, selector: {matchLabels: {a: b}}}")},
	},
	{
		name: "a NamespaceSelector has another mode", code: report.InvalidSelector, at: selectorFile + ":1",
		bad: small.with(files{selectorFile: namespaceSelector("s", "{mode: any, selector: {matchLabels: {a: b}}}")}),
		fix: files{selectorFile: namespaceSelector("s", "{mode: '', selector: {matchLabels: {a: b}}}")},
	},
}

var finalCases = []codeCase{
	{
		name: "a namespace inherits an object that it has", code: report.NameCollision, at: engFile + ":3",
		bad: small.with(files{engFile: configMap("a", ""), mapFile: configMap("a", "")}), fix: files{mapFile: configMap("b", "")},
	},
	{
		name: "two directories have the same Namespace", code: report.NameCollision, at: namespaceFile + ":3",
		bad: small.with(files{"namespaces/x/shop/n.yaml": namespace("shop", "")}), fix: files{"namespaces/x/shop/n.yaml": "", "namespaces/x/store/n.yaml": namespace("store", "")},
	},
	{
		name: "two cluster-scoped objects share a name", code: report.NameCollision, at: clusterRoleFile + ":3",
		bad: small.with(files{clusterRoleFile: clusterRole("r", ""), "cluster/z.yaml": clusterRole("r", "")}), fix: files{"cluster/z.yaml": clusterRole("r2", "")},
	},
	{
		name: "a Hierarchy has both of its names", code: report.NameCollision, at: "namespaces/eng/shop/hnc.yaml:3",
		bad: small.with(files{
			mapFile:                        "apiVersion: hnc.x-k8s.io/v1beta1\nkind: Hierarchy\nmetadata: {name: hierarchy}\n",
			"namespaces/eng/shop/hnc.yaml": "apiVersion: hnc.x-k8s.io/v1alpha2\nkind: HierarchyConfiguration\nmetadata: {name: hierarchy}\n",
		}), fix: files{"namespaces/eng/shop/hnc.yaml": ""},
	},
	{
		name: "an inherited object is managed in an unmanaged namespace", code: report.ManagedInUnmanaged, at: engFile + ":1",
		bad: small.with(files{namespaceFile: namespace("shop", annotated("configmanagement.gke.io/managed", "disabled")), engFile: configMap("a", "")}),
		fix: files{engFile: configMap("a", annotated("configmanagement.gke.io/managed", "disabled"))},
	},
	{
		name: "there are too many objects", code: report.TooManyObjects, at: "",
		bad: small.with(files{engFile: configMap("a", ""), mapFile: configMap("b", "")}), fix: files{mapFile: ""},
		options: repository.Options{MaxObjects: 2},
	},
}
