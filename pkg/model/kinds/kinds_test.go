package kinds

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/restmapper"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// A tenant cannot have a kind of its view propagated instead of the one that the configuration means.
func TestKindsOfViewsAreNotMeant(t *testing.T) {
	const theirs = "cert-manager.io.acme-12345" + hnc.ViewGroupsSuffix
	group := func(name, version string, resources ...string) *restmapper.APIGroupResources {
		gv := metav1.GroupVersionForDiscovery{GroupVersion: name + "/" + version, Version: version}
		g := &restmapper.APIGroupResources{Group: metav1.APIGroup{Name: name, Versions: []metav1.GroupVersionForDiscovery{gv}, PreferredVersion: gv},
			VersionedResources: map[string][]metav1.APIResource{}}
		for _, r := range resources {
			g.VersionedResources[version] = append(g.VersionedResources[version], metav1.APIResource{Name: r, SingularName: strings.TrimSuffix(r, "s"), Namespaced: true, Kind: strings.ToUpper(r)})
		}
		return g
	}
	for _, version := range []string{"v1", "v9"} {
		mapper := restmapper.NewDiscoveryRESTMapper([]*restmapper.APIGroupResources{
			group(theirs, version, "certificates", "issuers", "widgets"), group("cert-manager.io", "v1", "certificates", "issuers"),
		})
		for _, name := range [][2]string{{"", "certificates"}, {"cert-manager.io", "issuers"}, {"cert-manager", "issuer"}} {
			if found, err := Resolve(mapper, name[0], name[1]); err != nil || found.Resource.Group != "cert-manager.io" || found.Resource.Version != "v1" {
				t.Errorf("%v: %v, %v", name, found, err)
			}
		}
		// A command may name the kind of a view.
		for asked, want := range map[string]string{"": "cert-manager.io", theirs: theirs} {
			if found, err := OfCluster(mapper, schema.GroupVersionResource{Group: asked, Resource: "certificates"}); err != nil || found.Group != want {
				t.Errorf("the group %q: %v, %v", asked, found, err)
			}
		}
		for _, name := range [][2]string{{"", "widgets"}, {"cert-manager.io", "widgets"}, {theirs, "widgets"}} {
			if _, err := Resolve(mapper, name[0], name[1]); !meta.IsNoMatchError(err) {
				t.Errorf("%v: %v", name, err)
			}
		}
	}
}

// Controllers label them like their Services.
func TestWhatIsWrittenForServicesIsNotPropagated(t *testing.T) {
	for _, resource := range ofServices {
		group := &restmapper.APIGroupResources{
			Group: metav1.APIGroup{Name: resource.Group, PreferredVersion: metav1.GroupVersionForDiscovery{GroupVersion: resource.Group + "/v1", Version: "v1"},
				Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: resource.Group + "/v1", Version: "v1"}}},
			VersionedResources: map[string][]metav1.APIResource{"v1": {{Name: resource.Resource, Namespaced: true, Kind: "Any"}}},
		}
		var rejected *NotPropagatedError
		if _, err := Resolve(restmapper.NewDiscoveryRESTMapper([]*restmapper.APIGroupResources{group}), resource.Group, resource.Resource); !errors.As(err, &rejected) ||
			!strings.Contains(err.Error(), "propagate services") {
			t.Errorf("%s: %v", resource, err)
		}
	}
}

func TestEachNameIsLookedUpOnce(t *testing.T) {
	var asked []string
	find, _ := Once(func(group, resource string) (*meta.RESTMapping, error) {
		asked = append(asked, group+"/"+resource)
		if group == "" {
			return nil, &meta.NoResourceMatchError{}
		}
		return &meta.RESTMapping{Resource: schema.GroupVersionResource{Group: group, Resource: resource}}, nil
	}, nil)
	for range 3 {
		for _, name := range []string{"apps", "Apps", ""} {
			found, err := find(name, "things")
			if (err != nil) != (name == "") || err == nil && found.Resource.Group != "apps" {
				t.Errorf("%q: %v, %v", name, found, err)
			}
		}
	}
	if want := []string{"apps/things", "/things"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
}

func TestNumbersOfEnforcedKindsAreNotLimited(t *testing.T) {
	for _, resource := range Enforced {
		if count := corev1.ResourceName("count/" + resource.String()); !slices.Contains(hnc.PolicyCounts, count) {
			t.Errorf("quotas may limit %s", count)
		}
	}
}
