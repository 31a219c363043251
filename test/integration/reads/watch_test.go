package reads

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/informers/externalversions"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// describe returns what is compared of a namespace.
func describe(n *v1alpha3.MyNamespace) string {
	return fmt.Sprintf("%s %s below %q at %d of %q, %d labels", n.Name, n.UID, n.Status.Parent, n.Status.Depth, n.Status.Root, len(n.Labels))
}

// follower knows what a person sees from watching.
type follower interface {
	// known returns it, sorted.
	known() []string
}

// informed follows by client-go's informer.
type informed struct{ cache.SharedIndexInformer }

func (i informed) known() []string {
	var known []string
	for _, obj := range i.GetStore().List() {
		known = append(known, describe(obj.(*v1alpha3.MyNamespace)))
	}
	slices.Sort(known)
	return known
}

// stumbling follows by list and watch, and begins again at its last version at any moment.
type stumbling struct {
	person
	random *rand.Rand

	mu      sync.Mutex
	seen    map[string]string
	resumed int
	relists int
}

func (s *stumbling) known() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var known []string
	for _, n := range s.seen {
		known = append(known, n)
	}
	slices.Sort(known)
	return known
}

func (s *stumbling) run(ctx context.Context) error {
	version := ""
	for ctx.Err() == nil {
		if version == "" {
			list, err := s.hnc.HncV1alpha3().MyNamespaces().List(ctx, metav1.ListOptions{})
			if err != nil {
				return err
			}
			s.mu.Lock()
			s.relists++
			s.seen = map[string]string{}
			for i := range list.Items {
				s.seen[list.Items[i].Name] = describe(&list.Items[i])
			}
			s.mu.Unlock()
			version = list.ResourceVersion
		}
		var err error
		if version, err = s.watch(ctx, version); err != nil {
			return err
		}
	}
	return nil
}

// watch goes on from a version for a random time, and returns where it stopped, "" if that version is not known any
// more.
func (s *stumbling) watch(ctx context.Context, version string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(10+s.random.IntN(500))*time.Millisecond)
	defer cancel()
	w, err := s.hnc.HncV1alpha3().MyNamespaces().Watch(ctx, metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true})
	switch {
	case apierrors.IsResourceExpired(err):
		return "", nil
	case ctx.Err() != nil:
		return version, nil
	case err != nil:
		return "", err
	}
	defer w.Stop()
	left := s.random.IntN(30)
	if s.random.IntN(3) == 0 {
		// A client that gets everything at once gets it again until it has read all of it.
		left = 10 * worldNamespaces()
	}
	for event := range w.ResultChan() {
		n, ok := event.Object.(*v1alpha3.MyNamespace)
		if !ok {
			if err := apierrors.FromObject(event.Object); !apierrors.IsResourceExpired(err) {
				return "", err
			}
			return "", nil
		}
		version = n.ResourceVersion
		s.mu.Lock()
		switch event.Type {
		case watch.Deleted:
			delete(s.seen, n.Name)
		case watch.Added, watch.Modified:
			s.seen[n.Name] = describe(n)
		}
		s.mu.Unlock()
		if left--; left < 0 {
			break
		}
	}
	s.mu.Lock()
	s.resumed++
	s.mu.Unlock()
	return version, nil
}

// followers are some people's, two for each.
type followers map[*person][]follower

// watchers makes followers of some people until the test ends.
func (w *world) watchers(t *testing.T) followers {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	t.Cleanup(cancel)
	all := followers{}
	for i := range suite.Size(6, 15) {
		p := &w.people[i]
		factory := externalversions.NewSharedInformerFactory(p.hnc, 0)
		informer := factory.Hnc().V1alpha3().MyNamespaces().Informer()
		factory.StartWithContext(ctx)
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			t.Fatal("the informer does not sync")
		}
		s := &stumbling{person: *p, random: rand.New(rand.NewPCG(uint64(i), 1))}
		running.Go(func() {
			if err := s.run(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		})
		all[p] = []follower{informed{informer}, s}
	}
	return all
}

// compare fails unless everybody comes to know what is listed for him.
func (all followers) compare(t *testing.T) {
	t.Helper()
	total, resumed, relists := 0, 0, 0
	for p, followers := range all {
		for _, f := range followers {
			suite.Eventually(t, fmt.Sprintf("%s by %T", p.name, f), func() error {
				list, err := p.hnc.HncV1alpha3().MyNamespaces().List(t.Context(), metav1.ListOptions{})
				if err != nil {
					return err
				}
				var want []string
				for i := range list.Items {
					want = append(want, describe(&list.Items[i]))
				}
				total += len(want)
				if got := sets.New(f.known()...); !got.Equal(sets.New(want...)) {
					surplus, missing := sets.List(got.Difference(sets.New(want...))), sets.List(sets.New(want...).Difference(got))
					return fmt.Errorf("knows %d of %d, too many: %v, missing: %v", len(got), len(want), surplus[:min(3, len(surplus))], missing[:min(3, len(missing))])
				}
				return nil
			})
			if s, ok := f.(*stumbling); ok {
				s.mu.Lock()
				resumed, relists = resumed+s.resumed, relists+s.relists
				s.mu.Unlock()
			}
		}
	}
	t.Logf("%d followers know %d namespaces, after %d resumed watches and %d lists", 2*len(all), total, resumed, relists)
}
