package subtree

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	churners = 4
	branches = 6
)

func rounds() int { return suite.Size(60, 150) }

// TestTheWatchEndsWhereAListBegins changes objects and the tree at once, while some watch. In the end each of them
// knows exactly what a list holds, and never did they receive an object that is in no namespace that is theirs.
func TestTheWatchEndsWhereAListBegins(t *testing.T) {
	namespace(t, "churn-root", "")
	namespace(t, "churn-outside", "")
	for i := range branches {
		namespace(t, fmt.Sprint("churn-", i), "churn-root")
		namespace(t, fmt.Sprint("churn-", i, "-child"), fmt.Sprint("churn-", i))
	}
	everybody := person(t, "churn")
	everybody.grantAll(t, ask, "list watch configmaps")
	// She may not see half of the namespaces.
	some := person(t, "churn-some")
	some.grant(t, "churn-root", ask, "list watch configmaps")
	for i := 0; i < branches; i += 2 {
		some.grant(t, fmt.Sprint("churn-", i), "list watch configmaps")
		some.grant(t, fmt.Sprint("churn-", i, "-child"), "list watch configmaps")
	}
	knowsItsPermissions(t, some)
	configMap(t, "churn-root", "a")
	for _, u := range []user{everybody, some} {
		suite.EventuallyEqual(t, "list", "churn-root/a", func() string { return u.listed(t, "configmaps", "churn-root", marked) })
	}
	fresh := everybody.follow(t, "configmaps", "churn-root", marked)
	half := some.follow(t, "configmaps", "churn-root", metav1.ListOptions{LabelSelector: "test", AllowWatchBookmarks: true})
	informed := everybody.informer(t, "configmaps", "churn-root")

	var work sync.WaitGroup
	for worker := range churners {
		work.Go(func() { churn(t, worker) })
	}
	// Another begins in the middle.
	late := everybody.informer(t, "configmaps", "churn-root")
	work.Wait()
	for i := range 4 {
		move(t, fmt.Sprint("churn-", i), "churn-root")
		configMap(t, fmt.Sprint("churn-", i), "last")
	}

	want := func(u user) func() string {
		return func() string {
			names := strings.Fields(u.listed(t, "configmaps", "churn-root", marked))
			slices.Sort(names)
			return strings.Join(names, " ")
		}
	}
	all, visible := want(everybody)(), want(some)()
	if all == visible || len(strings.Fields(visible)) < 2 {
		t.Fatalf("the test tests nothing: %q, %q", all, visible)
	}
	suite.EventuallyEqual(t, "watch from the beginning", all, fresh.String)
	suite.EventuallyEqual(t, "watch with some permissions", visible, half.String)
	suite.EventuallyEqual(t, "informer", all, informed)
	suite.EventuallyEqual(t, "informer from the middle", all, late)
	for _, p := range []*observer{fresh, half} {
		p.mu.Lock()
		if len(p.twice) > 0 {
			t.Errorf("received twice, or out of order: %q", p.twice)
		}
		p.mu.Unlock()
	}
	for _, line := range strings.Split(half.received(), ", ") {
		for i := 1; i < branches; i += 2 {
			if strings.Contains(line, fmt.Sprint(" churn-", i)) || strings.Contains(line, "churn-outside") {
				t.Errorf("received what is not theirs: %s", line)
			}
		}
	}
}

// knowsItsPermissions returns when the server lets a user see every second branch of the tree: permissions take effect
// a moment after they are given, and denials are remembered for a moment.
func knowsItsPermissions(t *testing.T, u user) {
	t.Helper()
	var want []string
	for i := 0; i < branches; i += 2 {
		for _, ns := range []string{fmt.Sprint("churn-", i), fmt.Sprint("churn-", i, "-child")} {
			configMap(t, ns, "right")
			want = append(want, ns+"/right")
		}
	}
	suite.EventuallyEqual(t, "list of what the user may see", strings.Join(want, " "), func() string { return u.listed(t, "configmaps", "churn-root", marked) })
	for _, name := range want {
		ns, name, _ := strings.Cut(name, "/")
		must(t, "delete", admin.CoreV1().ConfigMaps(ns).Delete(t.Context(), name, metav1.DeleteOptions{}))
	}
}

// churn creates, changes and deletes objects, and moves branches out of the tree and back.
func churn(t *testing.T, worker int) {
	random := rand.New(rand.NewPCG(uint64(worker), 7))
	for round := range rounds() {
		branch := fmt.Sprint("churn-", random.IntN(branches))
		ns := []string{"churn-root", "churn-outside", branch, branch + "-child"}[random.IntN(4)]
		name := fmt.Sprint("c", random.IntN(5))
		client := admin.CoreV1().ConfigMaps(ns)
		var err error
		switch random.IntN(6) {
		case 0, 1:
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"test": name}}}
			_, err = client.Create(t.Context(), cm, metav1.CreateOptions{})
		case 2:
			patch := fmt.Sprintf(`{"data":{"round":"%d-%d"}}`, worker, round)
			_, err = client.Patch(t.Context(), name, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{})
		case 3:
			err = client.Delete(t.Context(), name, metav1.DeleteOptions{})
		case 4:
			move(t, branch, "")
		case 5:
			move(t, branch, "churn-root")
		}
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err) {
			t.Error(err)
		}
	}
}

// informer returns what an ordinary informer knows.
func (u user) informer(t *testing.T, resource, ns string) func() string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	informer := informerOf(u.Dynamic, resource, ns)
	go informer.RunWithContext(ctx)
	suite.EventuallyEqual(t, "informer", "true", func() string { return fmt.Sprint(informer.HasSynced()) })
	return func() string {
		known := map[string]bool{}
		for _, key := range informer.GetStore().ListKeys() {
			known[key] = true
		}
		return strings.Join(slices.Sorted(maps.Keys(known)), " ")
	}
}

func informerOf(client dynamic.Interface, resource, ns string) cache.SharedIndexInformer {
	return dynamicinformer.NewFilteredDynamicInformer(client, ours(resource), ns, 0, cache.Indexers{},
		func(options *metav1.ListOptions) {
			if resource == "configmaps" {
				options.LabelSelector = "test"
			}
		}).Informer()
}
