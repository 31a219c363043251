package cache

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

func TestOnlyTheSizeOfASpecIsKept(t *testing.T) {
	v := &v1alpha3.ViewDefinition{Spec: runtime.RawExtension{Raw: []byte(`{"group":"x"}`)}}
	if d := newDefinition(v); d.SpecBytes != len(v.Spec.Raw) || d.Spec.Raw != nil {
		t.Errorf("got %d bytes and %s", d.SpecBytes, d.Spec.Raw)
	}
}
