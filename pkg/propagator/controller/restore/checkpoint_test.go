package restore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgotesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
)

// at gives a configuration a checkpoint.
func at(id string, c *v1beta1.HNCConfiguration) *v1beta1.HNCConfiguration {
	c.Status.Checkpoint = &v1beta1.Checkpoint{ID: id}
	return c
}

func TestCompare(t *testing.T) {
	for name, test := range map[string]struct {
		store, checkpoint, stored, cluster string
		reason                             string
	}{
		"new on both sides":                        {"", "", "", "", ""},
		"of a version without checkpoints":         {"uid", "", "", "", ""},
		"the store was lost":                       {"other", "5-a", "", "", ""},
		"the annotation was removed on purpose":    {"", "5-a", "", "", ""},
		"equal":                                    {"uid", "5-a", "5-a", "here", ""},
		"interrupted before the store":             {"uid", "6-b 5-a", "5-a", "here", ""},
		"interrupted after the store":              {"uid", "6-b 5-a", "6-b", "here", ""},
		"the first one was interrupted":            {"uid", "1-a 0", "", "", ""},
		"the first one was interrupted, and lost":  {"other", "1-a 0", "", "", ""},
		"the first one was stored":                 {"uid", "1-a 0", "1-a", "here", ""},
		"an older store":                           {"uid", "10-c", "9-b", "here", hnc.ReasonHierarchiesOlder},
		"a store of a version without checkpoints": {"uid", "10-c", "", "", hnc.ReasonHierarchiesOlder},
		"an older cluster":                         {"uid", "9-b", "10-c", "here", hnc.ReasonClusterOlder},
		"a cluster without a record":               {"", "", "10-c", "here", hnc.ReasonClusterOlder},
		"another store":                            {"other", "10-c", "10-c", "here", hnc.ReasonOtherHierarchies},
		"both went on after a restore":             {"uid", "10-c", "10-d", "here", hnc.ReasonOtherHierarchies},
		"another cluster":                          {"uid", "10-c", "10-c", "there", hnc.ReasonOtherCluster},
	} {
		t.Run(name, func(t *testing.T) {
			c := configuration("uid")
			if test.stored != "" {
				c.Status.Checkpoint = &v1beta1.Checkpoint{Cluster: types.UID(test.cluster), ID: test.stored}
			}
			annotations := map[string]string{}
			for key, value := range map[string]string{hnc.AnnotationStore: test.store, hnc.AnnotationCheckpoint: test.checkpoint} {
				if value != "" {
					annotations[key] = value
				}
			}
			if got := compare(annotations, c, "here"); got.reason != test.reason || (got.message == "") != (test.reason == "") {
				t.Errorf("got %+v, want %s", got, test.reason)
			}
		})
	}
}

// older is a fixture whose store is older than the cluster.
func older(t *testing.T) *fixture {
	f := newFixture(t, system(map[string]string{hnc.AnnotationStore: "uid", hnc.AnnotationCheckpoint: "7-new"}), at("6-old", configuration("uid")))
	f.different = true
	return f
}

// trust records a decision.
func (f *fixture) trust(decision string) {
	f.t.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, hnc.AnnotationTrust, decision)
	if _, err := f.system.CoreV1().Namespaces().Patch(f.t.Context(), hnc.SystemNamespace, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) configuration() *v1beta1.HNCConfiguration {
	f.t.Helper()
	c, err := f.hierarchy.HncV1beta1().HNCConfigurations().Get(f.t.Context(), hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

func TestDoubtPausesUntilNothingDiffers(t *testing.T) {
	f := older(t)
	ctx, cancel := context.WithCancel(t.Context())
	paused := func() {
		for !f.Paused() {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}
	go paused()
	if err := f.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("not paused: %v", err)
	}
	conditions := f.configuration().Status.Conditions
	if len(conditions) != 1 || conditions[0].Type != hnc.ConditionPropagationPaused || conditions[0].Reason != hnc.ReasonHierarchiesOlder || !strings.Contains(conditions[0].Message, "7-new") {
		t.Errorf("conditions: %+v", conditions)
	}
	if f.Paused() || f.created() != "" || storedID(f.configuration()) != "6-old" {
		t.Errorf("paused %v, created %q, checkpoint %s", f.Paused(), f.created(), storedID(f.configuration()))
	}
	f.different = false
	if f.run(); !strings.HasPrefix(storedID(f.configuration()), "8-") {
		t.Errorf("checkpoint %s", storedID(f.configuration()))
	}
}

func TestAdministratorEndsPause(t *testing.T) {
	for _, test := range []struct{ decision, created string }{{"hierarchies/6-old", ""}, {"namespaces/6-old", "leaf below root"}} {
		t.Run(test.decision, func(t *testing.T) {
			f := older(t)
			f.namespaces("root", "leaf root=1")
			f.trust(test.decision)
			// The decision is not removed by the first attempt.
			writes := 0
			f.system.PrependReactor("patch", "namespaces", func(clientgotesting.Action) (bool, runtime.Object, error) {
				writes++
				return writes == 2, nil, apierrors.NewServiceUnavailable("away")
			})
			if f.run(); f.created() != test.created {
				t.Errorf("created %q", f.created())
			}
			ns, err := f.system.CoreV1().Namespaces().Get(t.Context(), hnc.SystemNamespace, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if id := storedID(f.configuration()); ns.Annotations[hnc.AnnotationCheckpoint] != id || ns.Annotations[hnc.AnnotationTrust] != "" {
				t.Errorf("checkpoint %s, annotations %v", id, ns.Annotations)
			}
		})
	}
}

// A decision about an earlier state of the hierarchies does not count, nor does one about another store.
func TestDecisionIsForOneCheckpoint(t *testing.T) {
	for _, test := range []struct {
		checkpoint, decision string
		trusted              bool
	}{
		{"6-old", "hierarchies/5-older", false},
		{"6-old", "hierarchies/uid", false},
		{"6-old", "hierarchies/6-old", true},
		{"", "hierarchies", false},
		{"", "hierarchies/other", false},
		{"", "hierarchies/uid", true},
	} {
		f := older(t)
		c := f.configuration()
		if c.Status.Checkpoint = nil; test.checkpoint != "" {
			c = at(test.checkpoint, c)
		}
		s := &state{system: system(map[string]string{hnc.AnnotationTrust: test.decision}), config: c}
		if trusted, err := f.resolve(t.Context(), s, mismatch{hnc.ReasonHierarchiesOlder, "older"}, 0); trusted != test.trusted || err != nil {
			t.Errorf("%+v: trusted %v, error %v", test, trusted, err)
		}
	}
}

func TestEarlierStateOfTheClusterIsRecognized(t *testing.T) {
	for _, test := range []struct {
		ids  string
		lost bool
	}{{"2-b", false}, {"3-c 2-b", false}, {"9-x", true}} {
		f := newFixture(t, system(map[string]string{hnc.AnnotationStore: "uid", hnc.AnnotationCheckpoint: "2-b"}), at("2-b", configuration("uid")))
		f.run()
		f.Cache.Update(func(s *cache.State) { s.AddEventHandlers(f.Handlers()) })
		changed := system(map[string]string{hnc.AnnotationCheckpoint: test.ids})
		changed.ResourceVersion = "9"
		f.Cache.ObserveNamespace(changed)
		if lost := f.store.Lost() != nil; lost != test.lost {
			t.Errorf("%s: lost %v", test.ids, lost)
		}
	}
}

// A state from before the last checkpoint is an earlier one, whichever side it is found on. While a checkpoint is being
// recorded, both are right.
func TestOnlyThePresentCheckpointIsKnown(t *testing.T) {
	f := newFixture(t, system(map[string]string{hnc.AnnotationStore: "uid", hnc.AnnotationCheckpoint: "2-b"}), at("2-b", configuration("uid")))
	f.run()
	f.store.add("2-b", "3-c")
	for id, known := range map[string]bool{"2-b": true, "3-c": true, "1-a": false} {
		if f.store.has(f.store.since(), id) != known {
			t.Errorf("during the recording, %s: known %v", id, !known)
		}
	}
	asked := f.store.since()
	f.store.complete("3-c")
	if !f.store.has(asked, "2-b") {
		t.Error("a response to a request from before counts as an earlier state")
	}
	// Both sides still have 2-b.
	if _, err := f.store.CheckCluster(t.Context()); !errors.Is(err, errOtherStore) || f.store.Lost() == nil {
		t.Errorf("an earlier cluster: %v", err)
	}
	if _, err := f.store.Check(t.Context()); !errors.Is(err, errOtherStore) {
		t.Errorf("an earlier store: %v", err)
	}
}

// A request of an earlier leader that arrives late must not replace what a later one has written.
func TestWritesOfTheStatusAreForTheVersionThatWasRead(t *testing.T) {
	read := configuration("uid")
	read.ResourceVersion = "7"
	f := newFixture(t, system(nil), read)
	s := &state{system: system(nil), config: read}
	if err := errors.Join(f.pause(t.Context(), s, mismatch{hnc.ReasonHierarchiesOlder, "older"}), f.store.record(t.Context(), s.system, read, "here")); err != nil {
		t.Fatal(err)
	}
	patches := 0
	for _, action := range f.hierarchy.Actions() {
		if patch, ok := action.(clientgotesting.PatchAction); ok {
			if patches++; !strings.Contains(string(patch.GetPatch()), `"resourceVersion":"7"`) {
				t.Errorf("for any version: %s", patch.GetPatch())
			}
		}
	}
	if patches != 2 {
		t.Errorf("%d patches", patches)
	}
}

// The store is restored again during a pause, and has no condition then; the reason may be another one.
func TestPauseIsReportedAgainAfterAnotherRestore(t *testing.T) {
	f := older(t)
	s := &state{system: system(nil), config: f.configuration()}
	for range 2 {
		if err := f.pause(t.Context(), s, mismatch{hnc.ReasonHierarchiesOlder, "older"}); err != nil {
			t.Fatal(err)
		}
		if c := f.configuration().Status.Conditions; len(c) != 1 || !f.Paused() {
			t.Fatalf("paused %v, conditions %+v", f.Paused(), c)
		}
		restored := f.configuration()
		restored.Status.Conditions = nil
		if _, err := f.hierarchy.HncV1beta1().HNCConfigurations().UpdateStatus(t.Context(), restored, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}
