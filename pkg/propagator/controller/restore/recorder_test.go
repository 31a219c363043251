package restore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
)

// The API server's data were lost, and nothing has noticed it yet: a record of the empty store would make it look like
// the known one.
func TestCheckpointDoesNotAdoptAnotherStore(t *testing.T) {
	f := newFixture(t, system(map[string]string{hnc.AnnotationStore: "uid", hnc.AnnotationCheckpoint: "2-b"}), at("2-b", configuration("uid")))
	f.run()
	client := f.hierarchy.HncV1beta1().HNCConfigurations()
	if err := client.Delete(t.Context(), hnc.ConfigurationName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := f.checkpoint(t.Context()); !errors.Is(err, errOtherStore) || f.store.Lost() == nil {
		t.Errorf("got %v, the store is lost: %v", err, f.store.Lost())
	}
	ns, err := f.system.CoreV1().Namespaces().Get(t.Context(), hnc.SystemNamespace, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if ns.Annotations[hnc.AnnotationStore] != "uid" || ns.Annotations[hnc.AnnotationCheckpoint] != "2-b" {
		t.Errorf("annotations %v", ns.Annotations)
	}
}

func TestCheckpointThatCannotBeRecordedDoesNotReplaceTheStoredOne(t *testing.T) {
	s := NewStore(nil, nil, v1beta1.HNCConfigurationSpec{})
	for i := range 3 * accepted {
		id := fmt.Sprint(i)
		s.add("stored", id)
		for _, known := range []string{"stored", id} {
			if !s.has(s.since(), known) {
				t.Fatalf("attempt %d: %s is not known", i, known)
			}
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
