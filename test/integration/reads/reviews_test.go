package reads

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// allReviews asks about every user and every namespace; otherwise a sample is drawn of what is listed and of what
// isn't.
var allReviews = os.Getenv("READS_ALL_REVIEWS") != ""

// sampled is how many of each are drawn for each user.
const sampled = 12

// changes is how often the world changes between the two comparisons.
func changes() int { return suite.Size(50, 300) }

func TestWhatIsListedIsWhatAccessReviewsSay(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(t, random)
	watchers := w.watchers(t)
	t.Logf("before: %d reviews agree", w.compare(t))
	for range changes() {
		w.change(t)
	}
	t.Logf("after: %d reviews agree", w.compare(t))
	watchers.compare(t)
}

// compare fails unless each user's list becomes what access reviews say, and returns how many there were. The world
// goes on for a while after the last change: bindings are copied, namespaces end.
func (w *world) compare(t *testing.T) int {
	t.Helper()
	var reviews atomic.Int64
	seeds := make([]uint64, len(w.people))
	for i := range seeds {
		seeds[i] = w.random.Uint64()
	}
	parallel(t, len(w.people), func(i int) error {
		p := w.people[i]
		suite.Eventually(t, p.name, func() error {
			n, err := w.review(t, p, rand.New(rand.NewPCG(seeds[i], 0)))
			if err == nil {
				reviews.Add(int64(n))
			}
			return err
		})
		return nil
	})
	return int(reviews.Load())
}

// review compares a user's list with access reviews.
func (w *world) review(t *testing.T, p person, random *rand.Rand) (int, error) {
	t.Helper()
	list, err := p.hnc.HncV1alpha3().MyNamespaces().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	listed := sets.New[string]()
	for i := range list.Items {
		listed.Insert(list.Items[i].Name)
	}
	existing, err := root.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return 0, err
	}
	var in, out []string
	for i := range existing.Items {
		if name := existing.Items[i].Name; listed.Has(name) {
			in = append(in, name)
		} else {
			out = append(out, name)
		}
	}
	if len(in) != len(listed) {
		return 0, fmt.Errorf("%s: of %d listed namespaces %d exist", p.name, len(listed), len(in))
	}
	if !allReviews {
		in, out = sample(random, in), sample(random, out)
	}
	for _, name := range slices.Concat(in, out) {
		allowed, err := w.allowed(t, p, name)
		if err != nil {
			return 0, err
		}
		if allowed != listed.Has(name) {
			return 0, fmt.Errorf("%s in %s: listed %v, allowed %v", p.name, name, listed.Has(name), allowed)
		}
	}
	return len(in) + len(out), nil
}

func sample(random *rand.Rand, names []string) []string {
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:min(len(names), sampled)]
}

func (w *world) allowed(t *testing.T, p person, name string) (bool, error) {
	t.Helper()
	review, err := root.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: p.name, Groups: p.groups, ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: "get", Resource: "namespaces", Namespace: name, Name: name,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}
