package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree/treetest"
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
			ns, err := f.system.CoreV1().Namespaces().Get(t.Context(), hnc.SystemNamespace, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			ns.Annotations[hnc.AnnotationTrust] = test.decision
			if _, err := f.system.CoreV1().Namespaces().Update(t.Context(), ns, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			if f.run(); f.created() != test.created {
				t.Errorf("created %q", f.created())
			}
			ns, err = f.system.CoreV1().Namespaces().Get(t.Context(), hnc.SystemNamespace, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if id := storedID(f.configuration()); ns.Annotations[hnc.AnnotationCheckpoint] != id || ns.Annotations[hnc.AnnotationTrust] != "" {
				t.Errorf("checkpoint %s, annotations %v", id, ns.Annotations)
			}
		})
	}
}

// A decision about an earlier state of the hierarchies does not count.
func TestDecisionIsForOneCheckpoint(t *testing.T) {
	f := older(t)
	s := &state{system: system(map[string]string{hnc.AnnotationTrust: "hierarchies/5-older"}), config: f.configuration()}
	if trusted, err := f.resolve(t.Context(), s, doubt{hnc.ReasonHierarchiesOlder, "older"}, 0); trusted || err != nil {
		t.Errorf("trusted %v, error %v", trusted, err)
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

func TestCheckpointIsRecordedWhenATreeChanges(t *testing.T) {
	f := newFixture(t, system(map[string]string{hnc.AnnotationStore: "uid", hnc.AnnotationCheckpoint: "2-b"}), at("2-b", configuration("uid")))
	f.run()
	f.Cache.Update(func(s *cache.State) { s.AddEventHandlers(f.Handlers()) })
	if len(f.requests) != 0 {
		t.Error("requested without a change")
	}
	f.namespaces("root")
	if len(f.requests) != 1 {
		t.Fatal("not requested")
	}
	if err := f.checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	ns, err := f.system.CoreV1().Namespaces().Get(t.Context(), hnc.SystemNamespace, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if id := storedID(f.configuration()); !strings.HasPrefix(id, "3-") || ns.Annotations[hnc.AnnotationCheckpoint] != id {
		t.Errorf("stored %s, annotations %v", id, ns.Annotations)
	}
}

func TestPlanOfAlignment(t *testing.T) {
	chain := []string{"ns a", "has a label a.tree.hnc.x-k8s.io/depth=0", "ns b", "has b label b.tree.hnc.x-k8s.io/depth=0", "has b label a.tree.hnc.x-k8s.io/depth=1",
		"ns c", "has c label c.tree.hnc.x-k8s.io/depth=0", "has c label b.tree.hnc.x-k8s.io/depth=1", "has c label a.tree.hnc.x-k8s.io/depth=2"}
	with := func(more ...string) []string { return append(slices.Clone(chain), more...) }
	for name, test := range map[string]struct {
		given []string
		want  string
	}{
		"equal":              {with("parent b a", "parent c b"), ""},
		"nothing":            {chain, "1: b below a; 2: c below b"},
		"reversed":           {with("parent a b", "parent b c"), "leave a; 1: b below a; 2: c below b"},
		"a missing parent":   {with("parent b a", "parent c b", "parent a gone"), ""},
		"without its record": {with("parent b a", "parent c b", "ns d sub-of a", "has d label d.tree.hnc.x-k8s.io/depth=0", "has d label a.tree.hnc.x-k8s.io/depth=1"), "1: d sub-of a"},
	} {
		t.Run(name, func(t *testing.T) {
			a := planAlignment(treetest.New(test.given...))
			var words []string
			for _, r := range a.leave {
				words = append(words, "leave "+r.name)
			}
			for depth, level := range a.join {
				for _, r := range level {
					how := "below"
					if r.subnamespace {
						how = "sub-of"
					}
					words = append(words, fmt.Sprintf("%d: %s %s %s", depth, r.name, how, r.parent))
				}
			}
			if got := strings.Join(words, "; "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
