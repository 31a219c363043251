package resourcespec

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
)

var at = field.NewPath("spec", "resources")

// late is a mapper that finds secrets only after a reset.
type late struct {
	*meta.DefaultRESTMapper
	resets int
}

func (l *late) Reset() {
	l.resets++
	l.Add(schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, meta.RESTScopeNamespace)
}

// counting is a mapper that counts resets.
type counting struct {
	*meta.DefaultRESTMapper
	resets atomic.Int32
}

func (c *counting) Reset() { c.resets.Add(1) }

func newMapper() *late {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, meta.RESTScopeNamespace)
	m.Add(schema.GroupVersionKind{Version: "v1", Kind: "Node"}, meta.RESTScopeRoot)
	m.Add(schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"}, meta.RESTScopeNamespace)
	m.Add(schema.GroupVersionKind{Group: hnc.GroupName, Version: "v1beta1", Kind: "Hierarchy"}, meta.RESTScopeNamespace)
	m.Add(schema.GroupVersionKind{Group: hnc.ResourcesGroupName, Version: "v1alpha2", Kind: "Gadget"}, meta.RESTScopeNamespace)
	return &late{DefaultRESTMapper: m}
}

func resources(names ...string) []hnc.ResourceSpec {
	var list []hnc.ResourceSpec
	for _, name := range names {
		resource, group, _ := strings.Cut(name, ".")
		list = append(list, hnc.ResourceSpec{Group: group, Resource: resource})
	}
	return list
}

// The names carry the rows of docs/spec/hnc.md 2.6.
func TestValidate(t *testing.T) {
	for name, test := range map[string]struct {
		resources, old []hnc.ResourceSpec
		want           string
	}{
		"one that exists":                    {resources("configmaps"), nil, ""},
		"one that was just installed":        {resources("secrets"), nil, ""},
		"K3 one that does not exist":         {resources("gizmos.example.com"), nil, "spec.resources[0]: FieldValueInvalid"},
		"K3 one that was removed since":      {resources("gizmos.example.com", "configmaps"), resources("gizmos.example.com"), ""},
		"K3 one that is not namespaced":      {resources("nodes"), nil, "spec.resources[0]: FieldValueInvalid"},
		"K4 an enforced one":                 {resources("rolebindings.rbac.authorization.k8s.io"), nil, "spec.resources[0]: FieldValueInvalid"},
		"K4 in any spelling":                 {resources("RoleBinding"), nil, "spec.resources[0]: FieldValueInvalid"},
		"K4 even if it was there":            {resources("rolebindings"), resources("rolebindings"), "spec.resources[0]: FieldValueInvalid"},
		"K5 twice":                           {resources("configmaps", "ConfigMap"), nil, "spec.resources[1]: FieldValueDuplicate"},
		"K6 all errors":                      {resources("nodes", "gizmos", "rolebindings"), nil, "spec.resources[0]: FieldValueInvalid, spec.resources[1]: FieldValueInvalid, spec.resources[2]: FieldValueInvalid"},
		"the hierarchy itself":               {resources("hierarchies.hnc.x-k8s.io"), nil, "spec.resources[0]: FieldValueInvalid"},
		"resources of reads across subtrees": {resources("gadgets.resources.hnc.x-k8s.io"), nil, "spec.resources[0]: FieldValueInvalid"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, err := range (Validator{kinds.NewMapper(newMapper())}).Validate(t.Context(), at, test.resources, test.old) {
				got = append(got, fmt.Sprint(err.Field, ": ", string(err.Type)))
			}
			if strings.Join(got, ", ") != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestDiscoveryIsRepeatedOnlyForMissingKinds(t *testing.T) {
	m := newMapper()
	k := Validator{kinds.NewMapper(m)}
	k.Validate(t.Context(), at, resources("configmaps"), nil)
	if m.resets != 0 {
		t.Errorf("%d resets for a known kind", m.resets)
	}
	k.Validate(t.Context(), at, resources("secrets"), nil)
	if m.resets != 1 {
		t.Errorf("%d resets for a missing kind", m.resets)
	}
	k.Validate(t.Context(), at, resources("a", "b", "c", "d", "e"), nil)
	if m.resets != 2 {
		t.Errorf("%d resets, want one for a request that names five missing kinds", m.resets-1)
	}
}

// TestWaitsForDiscoveryEndWithTheRequest has a request that is given up while it waits for its turn.
func TestWaitsForDiscoveryEndWithTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &counting{DefaultRESTMapper: newMapper().DefaultRESTMapper}
		k := Validator{kinds.NewMapper(m)}
		k.Validate(t.Context(), at, resources("missing"), nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		begin := time.Now()
		k.Validate(ctx, at, resources("missing"), nil)
		if waited, n := time.Since(begin), m.resets.Load(); waited > 0 || n != 1 {
			t.Errorf("the request waited for %s, and there were %d resets", waited, n)
		}
	})
}

func TestDiscoveryIsRepeatedOncePerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &counting{DefaultRESTMapper: newMapper().DefaultRESTMapper}
		k := Validator{kinds.NewMapper(m)}
		var requests sync.WaitGroup
		for range 100 {
			requests.Go(func() { k.Validate(t.Context(), at, resources("missing"), nil) })
			time.Sleep(20 * time.Millisecond)
		}
		requests.Wait()
		if n := m.resets.Load(); n > 4 {
			t.Errorf("%d resets in two seconds", n)
		}
	})
}
