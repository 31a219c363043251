package overwrittenobject

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// A tenant with the largest tree loses the oldest of its own records, in any of its namespaces.
func TestLargestTreeIsEvictedFirst(t *testing.T) {
	record := func(namespace string, age int) hnc.OverwrittenObject {
		return hnc.OverwrittenObject{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s-%d", namespace, age), CreationTimestamp: metav1.NewTime(time.Unix(int64(1000-age), 0))},
			Spec:       hnc.OverwrittenObjectSpec{Manifest: strings.Repeat("x", maxManifest)},
		}
	}
	root := func(namespace string) string { root, _, _ := strings.Cut(namespace, "."); return root }
	var records []hnc.OverwrittenObject
	records = append(records, record("small", 900), record("small", 800))
	for len(records)*(maxManifest+overhead) <= maxTotal-(maxManifest+overhead) {
		records = append(records, record(fmt.Sprintf("large.%d", len(records)), len(records)))
	}
	if got := victims(records, root, overhead); len(got) != 0 {
		t.Errorf("while another record fits, %d records are evicted", len(got))
	}
	got := victims(records, root, 2*(maxManifest+overhead))
	var names []string
	for _, o := range got {
		names = append(names, o.Name)
	}
	oldest := len(records) - 1
	want := fmt.Sprintf("[large.%d-%d large.%d-%d]", oldest, oldest, oldest-1, oldest-1)
	if fmt.Sprint(names) != want {
		t.Errorf("got %v, want %v", names, want)
	}
}
