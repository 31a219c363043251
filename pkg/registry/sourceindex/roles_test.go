package sourceindex

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
)

func TestH11ARoleBindingThatIsNotCopiedOverwritesNothing(t *testing.T) {
	f := run(t, nil)
	var bindings []kruntime.Object
	for name, kind := range map[string]string{"to-role": "Role", "to-missing": "Role", "to-cluster-role": "ClusterRole"} {
		for _, namespace := range []string{"root", "moved"} {
			bindings = append(bindings, &rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "u", ResourceVersion: "1"}, RoleRef: rbacv1.RoleRef{Kind: kind, Name: name},
			})
		}
	}
	f.Kubernetes = kubefake.NewClientset(bindings...)
	role := source("Role", "root/to-role")
	role.APIVersion = rbacv1.SchemeGroupVersion.String()
	if err := f.client.Tracker().Create(copies.Roles.GroupVersionResource, role, "root"); err != nil {
		t.Fatal(err)
	}
	f.start(t)
	eventually(t, "overwritten", "root/to-cluster-role>moved root/to-role>moved", func() string {
		return words(f.Overwritten(t.Context(), []string{"root"}, nil, into([]string{"root"}, "moved")))
	})
}

// Here everything below "moved" comes below root.
func TestH11WhatASubtreeOverridesComesFromTheSubtree(t *testing.T) {
	overridden, overrides := " "+hnc.AnnotationAllowOverride+"=true", " "+hnc.AnnotationOverride+"=true"
	ofOld := copies.Destination{Namespace: "leaf", Ancestors: []string{"root", "moved"}, Before: &copies.Destination{Namespace: "leaf", Ancestors: []string{"old", "moved"}}}
	for name, row := range map[string]struct {
		role       string
		configMaps []string
		mode       hnc.SynchronizationMode // of the cluster
		root       []hnc.ResourceSpec
		trees      []hnc.ResourceSpec
		want       string
	}{
		"a Role that the subtree overrides":     {role: "moved/ops" + overrides},
		"a Role that it does not override":      {role: "moved/ops", want: "root/waiting>leaf"},
		"an object that the subtree overwrites": {role: "moved/ops" + overrides, configMaps: []string{"root/n" + overridden, "moved/n" + overrides, "leaf/n"}},
		"an object that it does not override":   {role: "moved/ops" + overrides, configMaps: []string{"root/n" + overridden, "moved/n", "leaf/n"}, want: "root/n>leaf"},
		"an object that it does not propagate":  {role: "moved/ops" + overrides, configMaps: []string{"root/n" + overridden, "moved/n" + overrides, "leaf/n"}, trees: configMaps(hnc.Ignore, ""), want: "root/n>leaf"},
		"an object that it propagates only now": {role: "moved/ops" + overrides, configMaps: []string{"root/n" + overridden, "moved/n" + overrides, "leaf/n"},
			mode: hnc.Ignore, root: configMaps(hnc.Propagate, ""), want: "moved/n>leaf"},
		"one of a name that only the subtree has": {role: "moved/ops" + overrides, configMaps: []string{"moved/n", "leaf/n"}, mode: hnc.Ignore, root: configMaps(hnc.Propagate, ""), want: "moved/n>leaf"},
		"one that had to ask for it before":       {role: "moved/ops" + overrides, configMaps: []string{"moved/n", "leaf/n"}, mode: hnc.AllowPropagate, root: configMaps(hnc.Propagate, ""), want: "moved/n>leaf"},
		"one that the subtree always propagated":  {role: "moved/ops" + overrides, configMaps: []string{"moved/n", "leaf/n"}, root: configMaps(hnc.Propagate, "")},
		"a Role that the old parent replaced":     {role: "moved/ops" + overrides + ",old/ops", want: "moved/waiting>leaf"},
		"a Role that the old parent also offers":  {role: "old/ops", want: "root/waiting>leaf"},
	} {
		t.Run(name, func(t *testing.T) {
			f := run(t, configMaps(row.mode, ""), row.configMaps...)
			f.trees.list.(*hnc.HierarchyList).Items = []hnc.Hierarchy{*hierarchy("root", row.root...), *hierarchy("moved", row.trees...)}
			f.Kubernetes = kubefake.NewClientset(&rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: "leaf", Name: "waiting", UID: "u", ResourceVersion: "1"}, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "ops"},
			})
			for _, text := range append(strings.Split(row.role, ","), "root/ops"+overridden) {
				role := source("Role", text)
				role.APIVersion = rbacv1.SchemeGroupVersion.String()
				if err := f.client.Tracker().Create(copies.Roles.GroupVersionResource, role, role.Namespace); err != nil {
					t.Fatal(err)
				}
			}
			f.start(t)
			eventually(t, "overwritten", row.want, func() string {
				return words(f.Overwritten(t.Context(), []string{"root"}, nil, slices.Values([]copies.Destination{ofOld})))
			})
		})
	}
}

// The RoleBinding refers to another Role of that name; no source has the RoleBinding's name.
func TestH11ARoleFromAboveOverwritesRoleBindingsThatReferToItsName(t *testing.T) {
	f := run(t, nil)
	f.Kubernetes = kubefake.NewClientset(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "moved", Name: "waiting", UID: "u", ResourceVersion: "1"}, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "ops"},
	})
	role := source("Role", "root/ops")
	role.APIVersion = rbacv1.SchemeGroupVersion.String()
	if err := f.client.Tracker().Create(copies.Roles.GroupVersionResource, role, "root"); err != nil {
		t.Fatal(err)
	}
	f.start(t)
	for _, row := range []struct {
		before []string
		want   int
	}{{[]string{}, 1}, {[]string{"root"}, 0}} {
		eventually(t, "overwritten", fmt.Sprint(row.want), func() string {
			writes, _ := f.Overwritten(t.Context(), []string{"root"}, nil, func(yield func(copies.Destination) bool) {
				yield(copies.Destination{Namespace: "moved", Ancestors: []string{"root"}, Before: &copies.Destination{Namespace: "moved", Ancestors: row.before}})
			})
			return fmt.Sprint(len(writes))
		})
	}
}
