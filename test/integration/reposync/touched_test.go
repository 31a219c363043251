package reposync

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// versions returns the resource versions of the namespaces and of their ConfigMaps, by "namespace" and
// "namespace/name".
func versions(t *testing.T, namespaces ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, name := range namespaces {
		ns, err := admin.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		found[name] = ns.ResourceVersion
		list, err := admin.CoreV1().ConfigMaps(name).List(t.Context(), metav1.ListOptions{LabelSelector: "hnc.x-k8s.io/repository-sync"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			found[name+"/"+list.Items[i].Name] = list.Items[i].ResourceVersion
		}
	}
	return found
}

// TestACommitTouchesOnlyWhatItChanges changes a file of an abstract directory, adds an object, and changes what is not
// applied.
func TestACommitTouchesOnlyWhatItChanges(t *testing.T) {
	t.Parallel()
	files := namespace("x-a/x-a1", "x-a/x-a2", "x-b/x-b1")
	for _, file := range []string{"x-a/one", "x-a/two", "x-b/one", "x-a/x-a1/own"} {
		files["namespaces/"+file+".yaml"] = configMap(file[strings.LastIndex(file, "/")+1:], "1")
	}
	r := newRepository(t, files)
	start(t, "touches", r.spec())
	synced(t, "touches", r.head(t))
	all := []string{"x-a1", "x-a2", "x-b1"}
	before := versions(t, all...)
	if len(before) != 9 {
		t.Fatalf("got %v", before)
	}
	for _, step := range []struct {
		change map[string]string
		want   []string
	}{
		{map[string]string{"namespaces/x-a/one.yaml": configMap("one", "2")}, []string{"x-a1/one", "x-a2/one"}},
		{map[string]string{"namespaces/x-a/one.yaml": "# A comment.\n" + configMap("one", "2")}, nil},
		{map[string]string{"README.md": "Not applied."}, nil},
		{map[string]string{"namespaces/x-b/x-b1/more.yaml": configMap("more", "1")}, []string{"x-b1/more"}},
	} {
		synced(t, "touches", r.commit(t, step.change))
		after := versions(t, all...)
		var touched []string
		for name, version := range after {
			// The propagator may still label a new namespace.
			if before[name] != version && strings.Contains(name, "/") {
				touched = append(touched, name)
			}
		}
		slices.Sort(touched)
		if fmt.Sprint(touched) != fmt.Sprint(step.want) {
			t.Errorf("%v touches %v, want %v", step.change, touched, step.want)
		}
		before = after
	}
}
