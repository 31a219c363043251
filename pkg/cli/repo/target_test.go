package repo

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/cluster"
)

// Of kinds that cannot be listed, nothing is deleted, nor anything in a namespace that may stay.
func TestKindsThatCannotBeListedAreUnknown(t *testing.T) {
	secrets := schema.GroupKind{Kind: "Secret"}
	for _, test := range []struct {
		unlisted schema.GroupKind
		unknown  []schema.GroupKind
		prunes   bool
	}{
		{secrets, []schema.GroupKind{secrets}, true},
		{object.Namespace, []schema.GroupKind{object.Namespace, object.CRD}, false},
		{object.CRD, []schema.GroupKind{object.Namespace, object.CRD}, false},
	} {
		c, err := cluster.New(&rest.Config{}, &rest.Config{}, "policy", func() {})
		if err != nil {
			t.Fatal(err)
		}
		found := &target{cluster: c, unknown: map[schema.GroupKind]error{test.unlisted: errors.New("forbidden")}}
		unknown := found.state().Unknown
		if len(unknown) != len(test.unknown) || slices.ContainsFunc(test.unknown, func(kind schema.GroupKind) bool { return !unknown[kind] }) {
			t.Errorf("%s: got %v, want %v", test.unlisted, slices.Collect(maps.Keys(unknown)), test.unknown)
		}
		err = (&repoApplyOptions{prune: true}).allowed(found)
		if (err == nil) != test.prunes || err != nil && !strings.Contains(err.Error(), "--prune=false") {
			t.Errorf("%s: got %v", test.unlisted, err)
		}
		if err := (&repoApplyOptions{}).allowed(found); err != nil {
			t.Errorf("%s without --prune: %v", test.unlisted, err)
		}
	}
}

func TestClusterThatTheRepositoryDoesNotListIsNoTarget(t *testing.T) {
	policy(t, nil)
	flags := repoFlags{path: ".", sourceFormat: "hierarchy", kinds: kindFlags{offline: true}, clusters: []string{"typo"}}
	_, err := (&targetFlags{}).compile(t.Context(), nil, &flags, nil, io.Discard)
	if err == nil || !strings.Contains(err.Error(), `--clusters: the repository has no cluster "typo"`) {
		t.Errorf("got %v", err)
	}
}
