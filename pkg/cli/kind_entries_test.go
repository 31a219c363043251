package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// discovering returns a factory for a server that has answers to paths, and fails for others.
func discovering(t *testing.T, answers map[string]any) *Factory {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if answers[r.URL.Path] == nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_ = json.NewEncoder(w).Encode(answers[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	f := NewFactory(io.Discard)
	f.Flags.APIServer, f.Flags.CacheDir = ptr.To(server.URL), ptr.To(t.TempDir())
	return f
}

func TestEntriesOfOneKindAreFoundByAnyOfItsNames(t *testing.T) {
	networking := metav1.GroupVersionForDiscovery{GroupVersion: "networking.k8s.io/v1", Version: "v1"}
	namespaced := func(name, singular, kind string) metav1.APIResource {
		return metav1.APIResource{Name: name, SingularName: singular, Kind: kind, Namespaced: true, Verbs: metav1.Verbs{"list"}}
	}
	f := discovering(t, map[string]any{
		"/api": metav1.APIVersions{Versions: []string{"v1"}},
		"/apis": metav1.APIGroupList{Groups: []metav1.APIGroup{{
			Name: "networking.k8s.io", Versions: []metav1.GroupVersionForDiscovery{networking}, PreferredVersion: networking,
		}}},
		"/api/v1": metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{namespaced("secrets", "secret", "Secret")}},
		"/apis/networking.k8s.io/v1": metav1.APIResourceList{GroupVersion: networking.GroupVersion, APIResources: []metav1.APIResource{
			namespaced("networkpolicies", "networkpolicy", "NetworkPolicy"),
		}},
	})
	const long = "networkpolicies.networking.k8s.io"
	for _, test := range []struct {
		entries []string
		name    string
		want    int
	}{
		{[]string{"secrets", "networkpolicies"}, long, 1},
		{[]string{"secrets", long}, "networkpolicies", 1},
		{[]string{"secrets", "NetworkPolicy"}, long, 1},
		{[]string{"secrets", "networkpolicies", long}, long, 1}, // The first one is in effect.
		{[]string{"secrets"}, "networkpolicies", -1},
		{[]string{"secrets", "gone"}, "gone", 1},
		{[]string{"secrets"}, "gone", -1},
	} {
		var entries []v1beta1.ResourceSpec
		for _, name := range test.entries {
			entry := kindArg(name)
			entry.Mode = v1beta1.Propagate
			entries = append(entries, entry)
		}
		if at, err := f.entryOf(entries, kindArg(test.name)); err != nil || at != test.want {
			t.Errorf("%s in %s: got %d, %v, want %d", test.name, test.entries, at, err, test.want)
		}
		spec := &v1beta1.HNCConfigurationSpec{Resources: slices.Clone(entries)}
		set := &setResourceOptions{factory: f, entry: kindArg(test.name)}
		set.entry.Mode = v1beta1.Remove
		if err := set.apply(spec); err != nil || len(spec.Resources) != len(entries) != (test.want < 0) {
			t.Errorf("%s set in %s: %v, %v", test.name, test.entries, spec.Resources, err)
		}
		shown := &configGetOptions{factory: f, key: test.name}
		if value, err := shown.valueOf(spec); err != nil || value != string(v1beta1.Remove) {
			t.Errorf("%s in %s: got %q, %v", test.name, test.entries, value, err)
		}
		before := len(spec.Resources)
		if err := f.removeKind(spec, kindArg(test.name)); err != nil || len(spec.Resources) != before-1 {
			t.Errorf("%s unset in %s: %v, %v", test.name, test.entries, spec.Resources, err)
		}
		modes, err := f.withModes(slices.Clone(entries), []v1beta1.ResourceSpec{set.entry})
		if err != nil || len(modes) != len(entries) != (test.want < 0) {
			t.Errorf("the mode of %s in %s: %v, %v", test.name, test.entries, modes, err)
		}
	}
}

// Otherwise an entry would be added twice, or not be removed.
func TestFailedDiscoveryIsNoMissingEntry(t *testing.T) {
	f := discovering(t, nil)
	if at, err := f.entryOf([]v1beta1.ResourceSpec{kindArg("secrets")}, kindArg("networkpolicies")); err == nil {
		t.Errorf("got %d without an error", at)
	}
}
