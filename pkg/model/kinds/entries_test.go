package kinds

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// entries reads entries "resource mode".
func entries(texts ...string) (specs []v1beta1.ResourceSpec) {
	for _, text := range texts {
		resource, mode, _ := strings.Cut(text, " ")
		specs = append(specs, v1beta1.ResourceSpec{Resource: resource, Mode: v1beta1.SynchronizationMode(mode)})
	}
	return specs
}

// finds returns a function that finds kinds by their names, and fails for others with an error.
func finds(err error, names ...string) FindFunc {
	return func(_, resource string) (*meta.RESTMapping, error) {
		for _, name := range names {
			if strings.EqualFold(name, resource) {
				of := schema.GroupVersionResource{Version: "v1", Resource: name}
				if name == "roles" {
					of.Group = "rbac.authorization.k8s.io"
				}
				return &meta.RESTMapping{Resource: of}, nil
			}
		}
		return nil, err
	}
}

func TestPoliciesOfKinds(t *testing.T) {
	find := finds(&meta.NoResourceMatchError{}, "secrets", "configmaps", "roles")
	cluster := ResolveEntries(entries("nodes", "Secrets Remove", "roles Remove", "secrets Propagate"), "", find)
	trees := map[string]Resolution{
		"b": ResolveEntries(entries("configmaps", "secrets Ignore", "secrets"), v1beta1.Keep, find),
		"a": ResolveEntries(entries("secrets AllowPropagate"), "", find),
	}
	var got []string
	for _, k := range All(cluster, trees) {
		got = append(got, fmt.Sprintf("%s %v%v", k.Kind.Resource, k.Cluster, k.Trees))
	}
	want := "roles {Propagate false}map[]; rolebindings {Propagate false}map[]; " +
		"secrets {Remove false}map[a:{AllowPropagate false} b:{Ignore true}]; configmaps {Ignore false}map[b:{Propagate true}]"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	got = nil
	for _, p := range append(cluster.Problems, trees["b"].Problems...) {
		got = append(got, fmt.Sprint(p.At, " ", p.Resource, " ", p.Reason))
	}
	want = "0 nodes ResourceNotFound; 2 roles MultipleConfigurationsForType; 3 secrets MultipleConfigurationsForType; 2 secrets MultipleConfigurationsForType"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	var duplicate *DuplicateError
	if p := cluster.Problems; !meta.IsNoMatchError(p[0].Err) || !errors.As(p[2].Err, &duplicate) || duplicate.First != 1 {
		t.Errorf("problems %v", p)
	}
}

func TestFirstEntryHoldsWhileKindsCannotBeLookedUp(t *testing.T) {
	outage := errors.New("discovery does not respond")
	find, names := Once(finds(nil, "secrets"), nil)
	ResolveEntries(entries("secrets"), "", find)
	find, names = Once(finds(outage), names)
	r := ResolveEntries(entries("SECRETS Remove", "secrets Propagate", "configmaps"), "", find)
	if len(r.Entries) != 1 || r.Entries[0].Policy.Mode != v1beta1.Remove {
		t.Errorf("entries %v", r.Entries)
	}
	if p := r.Problems; len(p) != 4 || p[0].Reason != hnc.ReasonUnknown || p[2].Reason != hnc.ReasonMultipleConfigurations || p[3].Resource != "configmaps" {
		t.Errorf("problems %v", p)
	}
	// A kind that is known to be gone does not come back with the next outage.
	find, names = Once(finds(&meta.NoResourceMatchError{}), names)
	ResolveEntries(entries("secrets"), "", find)
	find, _ = Once(finds(outage), names)
	if r := ResolveEntries(entries("secrets"), "", find); len(r.Entries) != 0 {
		t.Errorf("entries %v", r.Entries)
	}
}
