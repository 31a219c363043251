package migration

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
)

func (t *translation) readQuotas(e *export) error {
	for _, object := range e.of("HierarchicalResourceQuota") {
		var spec v1beta1.HierarchicalResourceQuotaSpec
		if err := specOf(object, &spec); err != nil {
			return err
		}
		name, key := object.GetNamespace(), keyOf(quotas, object.GetNamespace(), object.GetName())
		_, exists := t.namespaces[name]
		switch {
		case !exists:
			t.leaveOut("%s: its namespace does not exist", key)
		case t.excluded(name):
			t.leaveOut("%s: the namespace is excluded from trees", key)
		case t.namespaces[name].Terminating || object.GetDeletionTimestamp() != nil:
			t.leaveOut("%s: it is being deleted", key)
		default:
			hard, rejected := quota.InForce(corev1.ResourceList(spec.Hard))
			for _, limit := range rejected {
				t.note("%s: the limit %s is left out, because hns-apiserver rejects it", key, limit)
			}
			if len(hard) == 0 && len(rejected) > 0 {
				continue
			}
			spec.Hard = hnc.ResourceList(hard)
			t.noteIgnoredLimits(object, spec.Hard)
			t.quotas = append(t.quotas, &v1beta1.HierarchicalResourceQuota{ObjectMeta: metadataOf(object), Spec: v1beta1.HierarchicalResourceQuotaSpec{Hard: spec.Hard}})
		}
	}
	return nil
}

// noteIgnoredLimits notes limits that HNC has enforced, and that are not in force here.
func (t *translation) noteIgnoredLimits(object *unstructured.Unstructured, hard hnc.ResourceList) {
	propagated := quota.Propagated(func(kind schema.GroupResource, _ []string) bool {
		i := slices.IndexFunc(t.resources, func(r v1beta1.ResourceSpec) bool { return r.Group == kind.Group && r.Resource == kind.Resource })
		return i >= 0 && modes.New(t.resources[i], "").Copies()
	})
	var ignored []string
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		if propagated.Lifts(name, []string{object.GetNamespace()}) {
			ignored = append(ignored, string(name))
		}
	}
	if len(ignored) > 0 {
		t.note("%s: the limits %s are not in force with hns-propagator, because such objects are propagated and copies would count",
			keyOf(quotas, object.GetNamespace(), object.GetName()), strings.Join(ignored, ", "))
	}
}
