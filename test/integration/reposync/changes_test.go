package reposync

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// uid returns the UID of a namespace, and "" for one that does not exist or is being deleted.
func uid(t *testing.T, namespace string) string {
	t.Helper()
	list, err := admin.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + namespace})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) == 0 || list.Items[0].DeletionTimestamp != nil {
		return ""
	}
	return string(list.Items[0].UID)
}

// moved returns files that move the contents of a directory, which has these files, to another one.
func moved(files map[string]string, from, to string) map[string]string {
	changed := map[string]string{}
	for name, content := range files {
		if below, ok := strings.CutPrefix(name, from+"/"); ok {
			changed[name], changed[to+"/"+below] = "", content
		}
	}
	return changed
}

// abstractAncestors returns the abstract ancestors by which a namespace has tree labels, joined by dots.
func abstractAncestors(t *testing.T, namespace string) string {
	t.Helper()
	ns, err := admin.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	if err != nil {
		return "-"
	}
	return ns.Annotations[hnc.AnnotationAbstractAncestors]
}

// TestChangesOfDirectories makes each change of directories in Git, and checks which namespaces survive it.
func TestChangesOfDirectories(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// change returns the files of the second commit. p is the prefix of all names.
		change func(files map[string]string, p string) map[string]string
		// want are the namespaces afterwards: kept, gone or new, with their ConfigMaps.
		want string
	}{
		"abstract-renamed": {
			change: func(files map[string]string, p string) map[string]string {
				return moved(files, "namespaces/"+p+"eng", "namespaces/"+p+"tech")
			},
			want: "search kept below tech eng=1 root=1, shop kept below tech eng=1 root=1, stay kept below other root=1",
		},
		"namespace-moved": {
			change: func(files map[string]string, p string) map[string]string {
				return moved(files, "namespaces/"+p+"eng/"+p+"shop", "namespaces/"+p+"other/"+p+"shop")
			},
			want: "search kept below eng eng=1 root=1, shop kept below other other=1 root=1, stay kept below other root=1",
		},
		"namespace-renamed": {
			change: func(files map[string]string, p string) map[string]string {
				changed := moved(files, "namespaces/"+p+"eng/"+p+"shop", "namespaces/"+p+"eng/"+p+"store")
				for name, content := range changed {
					changed[name] = strings.ReplaceAll(content, p+"shop", p+"store")
				}
				return changed
			},
			want: "search kept below eng eng=1 root=1, shop gone, stay kept below other root=1, store new below eng eng=1 root=1",
		},
		"namespace-moved-to-the-top": {
			change: func(files map[string]string, p string) map[string]string {
				return moved(files, "namespaces/"+p+"eng/"+p+"shop", "namespaces/"+p+"shop")
			},
			want: "search kept below eng eng=1 root=1, shop kept below  root=1, stay kept below other root=1",
		},
		"namespace-turned-abstract": {
			change: func(_ map[string]string, p string) map[string]string {
				changed := namespace(p + "eng/" + p + "shop/" + p + "store")
				changed["namespaces/"+p+"eng/"+p+"shop/namespace.yaml"] = ""
				return changed
			},
			want: "search kept below eng eng=1 root=1, shop gone, stay kept below other root=1, store new below shop.eng eng=1 root=1",
		},
		"abstract-deleted": {
			change: func(files map[string]string, p string) map[string]string {
				changed := map[string]string{}
				for name := range files {
					if strings.HasPrefix(name, "namespaces/"+p+"eng/") {
						changed[name] = ""
					}
				}
				return changed
			},
			want: "search gone, shop gone, stay kept below other root=1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := "g" + strings.ReplaceAll(name, "-", "") + "-"
			files := namespace(p+"eng/"+p+"shop", p+"eng/"+p+"search", p+"other/"+p+"stay")
			files["namespaces/root.yaml"] = configMap("root", "1")
			files["namespaces/"+p+"eng/eng.yaml"] = configMap("eng", "1")
			files["namespaces/"+p+"other/other.yaml"] = configMap("other", "1", "  annotations: {configmanagement.gke.io/namespace-selector: "+p+"moved}\n")
			files["namespaces/"+p+"other/selector.yaml"] = "apiVersion: configmanagement.gke.io/v1\nkind: NamespaceSelector\nmetadata: {name: " + p + "moved}\n" +
				"spec: {selector: {matchExpressions: [{key: " + p + "shop.tree.hnc.x-k8s.io/depth, operator: Exists}]}}\n"
			r := newRepository(t, files)
			spec := r.spec()
			spec.AllowMassDeletion = true
			start(t, p+"sync", spec)
			synced(t, p+"sync", r.head(t))
			before := map[string]string{}
			for _, n := range []string{"shop", "search", "stay"} {
				before[n] = uid(t, p+n)
			}
			synced(t, p+"sync", r.commit(t, c.change(files, p)))
			suite.EventuallyEqual(t, "namespaces", c.want, func() string {
				var all []string
				for _, n := range []string{"search", "shop", "stay", "store"} {
					above := strings.ReplaceAll(abstractAncestors(t, p+n), p, "")
					switch id := uid(t, p+n); {
					case id != "" && id == before[n]:
						all = append(all, fmt.Sprintf("%s kept below %s %s", n, above, values(t, p+n)))
					case id != "":
						all = append(all, fmt.Sprintf("%s new below %s %s", n, above, values(t, p+n)))
					case before[n] != "":
						all = append(all, n+" gone")
					}
				}
				return strings.Join(all, ", ")
			})
		})
	}
}

// TestLiveHierarchyGoesOnBelowALeaf has users create a sub-namespace of a namespace of the repository.
func TestLiveHierarchyGoesOnBelowALeaf(t *testing.T) {
	t.Parallel()
	role := func(verb string) string {
		return "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: inherited}\nrules: [{apiGroups: [''], resources: [pods], verbs: [" + verb + "]}]\n"
	}
	r := newRepository(t, with(namespace("l-eng/l-shop", "l-eng/l-other"), "namespaces/l-eng/role.yaml", role("get")))
	start(t, "live", r.spec())
	synced(t, "live", r.head(t))
	if _, err := admin.HNC.HncV1beta1().Subnamespaces("l-shop").Create(t.Context(),
		&v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "l-child"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	roles := func(namespace string) string {
		list, err := admin.RbacV1().Roles(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		var all []string
		for i := range list.Items {
			o := &list.Items[i]
			all = append(all, fmt.Sprintf("%s %v from %q", o.Name, o.Rules[0].Verbs, o.Labels["hnc.x-k8s.io/inherited-from"]))
		}
		return strings.Join(all, ", ")
	}
	expect := func(namespace, want string) {
		t.Helper()
		suite.EventuallyEqual(t, "Roles of "+namespace, want, func() string { return roles(namespace) })
	}
	expect("l-child", `inherited [get] from "l-shop"`)
	// A commit reaches the sub-namespace, and the copy is the propagator's only.
	synced(t, "live", r.commit(t, map[string]string{"namespaces/l-eng/role.yaml": role("list")}))
	expect("l-shop", `inherited [list] from ""`)
	expect("l-child", `inherited [list] from "l-shop"`)
	synced(t, "live", r.commit(t, map[string]string{"namespaces/l-eng/role.yaml": ""}))
	expect("l-shop", "")
	expect("l-child", "")
}
