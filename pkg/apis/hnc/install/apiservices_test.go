package install

import (
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestEachServedVersionHasAnAPIService(t *testing.T) {
	scheme := runtime.NewScheme()
	Install(scheme)
	var want, got []string
	for _, version := range append(scheme.PrioritizedVersionsForGroup(hnc.GroupName), hnc.ResourcesGroupVersion) {
		want = append(want, version.Version+"."+version.Group)
	}
	for _, service := range hnc.APIServices {
		got = append(got, service.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	role, err := os.ReadFile("../../../../artifacts/base/rbac-propagator.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if names := "resourceNames: [" + strings.Join(append(got, hnc.ViewAPIService.Name), ", ") + "]"; !strings.Contains(string(role), names) {
		t.Errorf("the propagator's role does not have %s", names)
	}
}
