package copies

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
)

// Copies may be refused for ever, in any number of namespaces, and each request may have a megabyte.
func TestRefusedCopiesAreTriedAgainAtThePaceOfTheirTree(t *testing.T) {
	const namespaces = 2 * retriedBurst / 2 / retryCost
	c, now := newController(), time.Unix(1000, 0)
	large := copies.Digest{1}
	c.failures.known[0] = map[string]map[string]failure{}
	leaves := []string{}
	for i := range namespaces {
		name := fmt.Sprint("leaf-", i)
		leaves = append(leaves, name)
		c.failures.known[0][name] = map[string]failure{"role": {"too large", large}}
		c.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: "1"}})
		c.Cache.ObserveHierarchy(&v1beta1.Hierarchy{
			ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: hnc.Singleton, ResourceVersion: "1"}, Spec: v1beta1.HierarchySpec{Parent: "root"},
		})
	}
	tried := func(verb copies.Verb, digest copies.Digest, namespaces ...string) (n int) {
		for _, namespace := range namespaces {
			if _, ok := c.retry(now, 0, copies.Write{Verb: verb, Kind: copies.Roles, Namespace: namespace, Name: "role", Source: &copies.Object{Digest: digest}}); ok {
				n++
			}
		}
		return n
	}
	if n := tried(copies.Create, large, leaves...); n != namespaces/2 {
		t.Errorf("%d copies are tried again at once", n)
	}
	now = now.Add(time.Second)
	if n := tried(copies.Create, large, leaves...); n != retriedPerSecond/2/retryCost {
		t.Errorf("%d copies are tried again a second later", n)
	}
	c.retries.Return(now, "root", retryCost)
	if n := tried(copies.Create, large, leaves...); n != 1 {
		t.Errorf("%d copies are tried again after one has been written", n)
	}
	if n := tried(copies.Create, large, "elsewhere"); n != 1 {
		t.Error("a copy that was not refused waits")
	}
	if n := tried(copies.Update, copies.Digest{2}, leaves...); n != len(leaves) {
		t.Errorf("%d copies of a source that has changed are written", n)
	}
	if n := tried(copies.Delete, copies.Digest{}, leaves...); n != len(leaves) {
		t.Errorf("%d copies are removed", n)
	}
}
