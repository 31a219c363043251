package servers

import (
	"context"
	"fmt"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// Several parents want sub-namespaces of the same names at once, each through another server and under either name of
// the resource. Exactly one gets each, and the others get an error.
func TestOneParentGetsAName(t *testing.T) {
	const parents = 6
	names := suite.Size(10, 25)
	var asking []string
	for i := range parents {
		asking = append(asking, fmt.Sprintf("asking-%d", i))
	}
	createNamespaces(t, asking...)

	var mu sync.Mutex
	got := map[string][]string{}
	for i := range names {
		wanted := fmt.Sprintf("wanted-%d", i)
		begin := make(chan struct{})
		var wg sync.WaitGroup
		for p, parent := range asking {
			client, n := admin.at(t, p%len(replicas)), bothSubnamespaces[(p+i)%2]
			wg.Go(func() {
				<-begin
				_, err := client.dynamic.Resource(n.GroupVersionResource).Namespace(parent).
					Create(t.Context(), n.object(parent, wanted, nil), metav1.CreateOptions{})
				switch {
				case err == nil:
					mu.Lock()
					got[wanted] = append(got[wanted], parent)
					mu.Unlock()
				case !apierrors.IsConflict(err):
					t.Errorf("%s in %s: %v", wanted, parent, err)
				}
			})
		}
		close(begin)
		wg.Wait()
		if len(got[wanted]) != 1 {
			t.Errorf("%s was given to %v", wanted, got[wanted])
		}
	}
	// What was promised is what is there.
	stored := map[string][]string{}
	for _, parent := range asking {
		list, err := admin.dynamic.Resource(subnamespaces.GroupVersionResource).Namespace(parent).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range list.Items {
			stored[item.GetName()] = append(stored[item.GetName()], parent)
			abandon(t, parent, item.GetName())
		}
	}
	for name, parents := range stored {
		if fmt.Sprint(parents) != fmt.Sprint(got[name]) {
			t.Errorf("%s was given to %v and is in %v", name, got[name], parents)
		}
	}
	if len(stored) != names {
		t.Errorf("%d names are taken, want %d", len(stored), names)
	}
}

// abandon deletes a Subnamespace whose namespace was never created, so that nobody creates it later. It may be called
// when the test has ended, and waits out policies that still forbid it.
func abandon(t *testing.T, parent, name string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	client := admin.dynamic.Resource(subnamespaces.GroupVersionResource).Namespace(parent)
	eventually(t, "Subnamespace "+parent+"/"+name+" is deleted", func() error {
		if _, err := client.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
			return err
		}
		return client.Delete(ctx, name, metav1.DeleteOptions{})
	})
}
