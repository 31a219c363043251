package sourceindex

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
)

func TestAllThatModesOverwrite(t *testing.T) {
	for _, row := range []struct {
		name string
		mode hnc.SynchronizationMode
		keep hnc.ConflictPolicy
		want string
	}{
		{"a propagated kind", "", "", "root/a>mid root/b>low root/reader>low"},
		{"what is kept", "", hnc.Keep, "root/reader>low"},
		{"an ignored kind", hnc.Ignore, "", "root/reader>low"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := run(t, nil, "root/a", "mid/a", "root/b", "low/b", "other/a")
			var bindings []kruntime.Object
			for _, namespace := range []string{"root", "low"} {
				bindings = append(bindings, &rbacv1.RoleBinding{
					ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "reader", UID: "u", ResourceVersion: "1"}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "view"},
				})
			}
			client := kubefake.NewClientset(bindings...)
			f.Kubernetes = client
			destinations := func(yield func(copies.Destination) bool) {
				_ = yield(copies.Destination{Namespace: "mid", Ancestors: []string{"root"}}) && yield(copies.Destination{Namespace: "low", Ancestors: []string{"root", "mid"}})
			}
			writes, unknown := f.AllOverwritten(t.Context(), Modes{Cluster: configMaps(row.mode, row.keep)}, destinations)
			slices.SortFunc(writes, func(a, b copies.Write) int { return strings.Compare(a.Name, b.Name) })
			if got := words(writes, unknown); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
			if len(client.Actions()) == 0 {
				t.Error("no RoleBindings are listed")
			}
			for _, action := range client.Actions() {
				if limit := action.(clienttesting.ListActionImpl).ListOptions.Limit; limit != pageObjects {
					t.Errorf("a page has %d objects", limit)
				}
			}
		})
	}
}
