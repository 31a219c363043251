package install

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// A spec of 700 KiB may have 349,000 values, which use 0.5 GiB when they are decoded. The server decodes a spec for
// managed fields, before it is validated.
func TestSpecsOfDefinitionsHaveFewValues(t *testing.T) {
	scheme := runtime.NewScheme()
	Install(scheme)
	decoder := serializer.NewCodecFactory(scheme).UniversalDecoder(hnc.SchemeGroupVersion)
	decode := func(values int) error {
		_, _, err := decoder.Decode(fmt.Appendf(nil, `{"apiVersion":"hnc.x-k8s.io/v1alpha3","kind":"ViewDefinition","spec":{"a":[%s0]}}`, strings.Repeat("0,", values)), nil, nil)
		return err
	}
	if err := decode(yamlbody.MaxValues - 10); err != nil {
		t.Error(err)
	}
	if err := decode(yamlbody.MaxValues); err == nil || !strings.Contains(err.Error(), "the object may have at most 32768 values") {
		t.Errorf("got %v", err)
	}
}
