package apiserver

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Objects are stored in the preferred version that has their kind. Earlier builds stored all as v1beta1.
func TestStoredVersions(t *testing.T) {
	for kind, want := range map[string]string{
		"Hierarchy": "v1beta1", "Subnamespace": "v1beta1", "HNCConfiguration": "v1beta1", "HierarchicalResourceQuota": "v1beta1",
		"CopyRelease": "v1alpha3", "OverwrittenObject": "v1alpha3", "RepositorySync": "v1alpha3",
	} {
		for _, version := range []string{"v1beta1", want} {
			object, err := runtime.Decode(StorageCodec, []byte(`{"kind":"`+kind+`","apiVersion":"hnc.x-k8s.io/`+version+`","metadata":{"name":"x"}}`))
			if err != nil {
				t.Errorf("%s of %s: %v", kind, version, err)
				continue
			}
			stored, err := runtime.Encode(StorageCodec, object)
			if err != nil || !strings.HasPrefix(string(stored), `{"kind":"`+kind+`","apiVersion":"hnc.x-k8s.io/`+want+`",`) {
				t.Errorf("%s of %s is stored as %s, %v", kind, version, stored, err)
			}
		}
		gvk := hnc.SchemeGroupVersion.WithKind(kind)
		gvk.Version = "v1beta1"
		if served := Scheme.Recognizes(gvk); served != (want == "v1beta1") {
			t.Errorf("%s is served as v1beta1: %t", kind, served)
		}
	}
}
