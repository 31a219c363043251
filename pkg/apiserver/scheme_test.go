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

// One object that cannot be read with others of its kind would stop everybody who follows the kind.
func TestStoredObjectsAreNotDeep(t *testing.T) {
	fields := strings.Repeat(`{"f:a":`, 9_000) + "{}" + strings.Repeat("}", 9_000)
	object, err := runtime.Decode(StorageCodec, []byte(`{"kind":"Hierarchy","apiVersion":"hnc.x-k8s.io/v1beta1","metadata":{"name":"x","managedFields":[`+
		`{"manager":"deep","fieldsType":"FieldsV1","fieldsV1":`+fields+`},{"manager":"flat","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := object.(*hnc.Hierarchy).ManagedFields; len(got) != 1 || got[0].Manager != "flat" {
		t.Errorf("it has the managed fields of %d managers", len(got))
	}
}
