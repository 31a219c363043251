package copyrelease

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestAStatusDoesNotProlongARelease(t *testing.T) {
	const ttl = hnc.CopyReleaseTTL
	created := time.Unix(1000, 0)
	for age, want := range map[time.Duration]uint64{
		-time.Minute: ttl, 0: ttl, time.Minute: ttl - 60, ttl*time.Second - time.Second: 1, time.Hour: 1,
	} {
		if got := remaining(created, created.Add(age)); got != want {
			t.Errorf("after %s: %d s remain, want %d", age, got, want)
		}
	}
}

func TestReleasesHaveNoFinalizers(t *testing.T) {
	held := func() *hnc.CopyRelease {
		return &hnc.CopyRelease{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{"example.com/held"}}}
	}
	created, updated := held(), held()
	strategy{}.PrepareForCreate(t.Context(), created)
	strategy{}.PrepareForUpdate(t.Context(), updated, &hnc.CopyRelease{})
	if len(created.Finalizers)+len(updated.Finalizers) > 0 {
		t.Errorf("created with %v, updated with %v", created.Finalizers, updated.Finalizers)
	}
}
