package viewdefinition

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
)

// action is what to do about one ViewDefinition.
type action int

const (
	keep action = iota
	create
	update
	// remove deletes the CustomResourceDefinition, and release lets the ViewDefinition go, which has none any more.
	remove
	release
)

// changes reports whether a CustomResourceDefinition is written or deleted.
func (a action) changes() bool { return a == create || a == update || a == remove }

// step is what one ViewDefinition needs.
type step struct {
	action     action
	definition *v1alpha3.ViewDefinition
	// name is that of the CustomResourceDefinition, and crd what the cluster has of it, nil if it has none.
	name string
	crd  *cache.ViewCRD
	// reason and message say why nothing is done, if something prevents it.
	reason, message string
}

// plan is what the view of a namespace needs.
type plan struct {
	// suffix is that of the groups, "" if the namespace does not exist.
	suffix string
	steps  []step
	// exists reports that the namespace exists and is not being deleted, and grants that its creators can get
	// permissions, too: in a namespace that is halted or excluded, they can only lose them.
	exists, grants bool
}

// newPlan decides what a namespace needs. The oldest ViewDefinitions are the first to get a CustomResourceDefinition.
// Those that exist count, whatever has become of their ViewDefinitions. A CustomResourceDefinition without a
// ViewDefinition stays: hierarchies may have been lost, or namespaces restored with other UIDs, and the custom
// resources would be lost with it.
func newPlan(s *cache.State, namespace string) plan {
	var p plan
	wanted, crds := s.Definitions.Wanted[namespace], maps.Clone(s.Definitions.CRDs[namespace])
	terminating := false
	if ns := s.Tree.Namespace(namespace); ns != nil {
		p.suffix, terminating = hnc.ViewGroupSuffix(namespace, ns.UID), ns.Terminating
		p.exists, p.grants = !terminating, !s.Tree.Frozen(namespace) && !s.Tree.Excluded(namespace)
	}
	maps.DeleteFunc(crds, func(_ string, crd *cache.ViewCRD) bool { return !hasSuffix(crd.Group, p.suffix) }) // of a namespace with another UID
	limit, existing, bytes := 0, len(crds), 0
	if view := s.Views[namespace]; view != nil && view.DeletionTimestamp == nil {
		limit = int(view.Spec.CustomResources.Limit)
	}
	for _, v := range slices.SortedFunc(maps.Values(wanted), oldest) {
		t := step{definition: v.ViewDefinition, name: v.Name + "." + p.suffix}
		t.crd = crds[t.name]
		bytes += v.SpecBytes
		switch {
		case v.DeletionTimestamp != nil && t.crd == nil:
			if slices.Contains(v.Finalizers, hnc.FinalizerViewDefinition) {
				t.action = release
			}
		case v.DeletionTimestamp != nil && !t.crd.Terminating:
			t.action = remove
		case v.DeletionTimestamp != nil, p.suffix == "":
		case t.crd != nil && (t.crd.Terminating || t.crd.Definition == identity(v.ViewDefinition)):
		case bytes > hnc.MaxViewDefinitionBytes:
			t.reason = hnc.ReasonLimitReached
			t.message = fmt.Sprintf("with the older ones, the spec has %d bytes, and a namespace may have %d; remove descriptions or versions, or delete one", bytes, hnc.MaxViewDefinitionBytes)
		case t.crd != nil && existing <= limit:
			t.action = update
		case t.crd == nil && existing < limit && !terminating:
			t.action = create
			existing++
		default:
			t.reason = hnc.ReasonLimitReached
			t.message = fmt.Sprintf("spec.customResources.limit of the TenantView is %d, and the view has %d CustomResourceDefinitions; delete one, or ask an administrator of the cluster to raise it", limit, existing)
		}
		p.steps = append(p.steps, t)
	}
	return p
}

func oldest(a, b cache.Definition) int {
	if byAge := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); byAge != 0 {
		return byAge
	}
	return strings.Compare(a.Name, b.Name)
}

// identity names the spec of a ViewDefinition.
func identity(v *v1alpha3.ViewDefinition) string { return fmt.Sprintf("%s/%d", v.UID, v.Generation) }

// group returns the group in the cluster of the custom resources of a step.
func (t step) group() string {
	_, group, _ := strings.Cut(t.name, ".")
	return group
}

// usable reports whether the custom resources of a step can be used, now or soon.
func (t step) usable() bool {
	return t.definition.DeletionTimestamp == nil && (t.action == create || t.crd != nil && !t.crd.Terminating)
}

// fill makes a CustomResourceDefinition the one of a ViewDefinition. Nothing of the metadata that a tenant has set is
// part of it.
func fill(o *unstructured.Unstructured, v *v1alpha3.ViewDefinition, suffix string) error {
	var spec map[string]any
	if err := utiljson.Unmarshal(v.Spec.Raw, &spec); err != nil {
		return err
	}
	_, group, _ := strings.Cut(v.Name, ".")
	spec["group"] = group + "." + suffix
	for _, of := range []string{"shortNames", "categories"} {
		names, found, err := unstructured.NestedStringSlice(spec, "names", of)
		if err != nil || !found {
			continue // null, at most: hns-apiserver has validated it.
		}
		if err := unstructured.SetNestedStringSlice(spec, hnc.ViewShortNames(names, suffix), "names", of); err != nil {
			return err
		}
	}
	o.SetGroupVersionKind(cache.CRDKind)
	o.SetName(v.Name + "." + suffix)
	o.SetLabels(map[string]string{hnc.LabelViewRoot: v.Namespace})
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[hnc.AnnotationViewDefinition] = identity(v)
	o.SetAnnotations(annotations)
	o.Object["spec"] = spec
	return nil
}

// statusOf returns the status that a ViewDefinition must have.
func statusOf(t step, suffix string, now metav1.Time) v1alpha3.ViewDefinitionStatus {
	v := t.definition
	status := v1alpha3.ViewDefinitionStatus{ObservedGeneration: v.Generation}
	ready := metav1.Condition{
		Type: hnc.ConditionReady, Status: metav1.ConditionFalse, ObservedGeneration: v.Generation, LastTransitionTime: now,
		Reason: t.reason, Message: names.ShortenText(strings.ReplaceAll(t.message, "."+suffix, "")),
	}
	established := false
	if t.crd != nil {
		status.AcceptedNames, status.StoredVersions = t.crd.Status.AcceptedNames, t.crd.Status.StoredVersions
		status.AcceptedNames.ShortNames = hnc.ShownShortNames(status.AcceptedNames.ShortNames, suffix)
		status.AcceptedNames.Categories = hnc.ShownShortNames(status.AcceptedNames.Categories, suffix)
		for _, c := range t.crd.Status.Conditions {
			c.Message = strings.ReplaceAll(c.Message, "."+suffix, "")
			status.Conditions = append(status.Conditions, c)
		}
		established = meta.IsStatusConditionTrue(t.crd.Status.Conditions, "Established")
	}
	switch {
	case t.reason != "":
	case v.DeletionTimestamp != nil, t.crd != nil && t.crd.Terminating:
		ready.Reason, ready.Message = hnc.ReasonDefinitionDeleting, "the CustomResourceDefinition is being deleted with its custom resources"
	case !established || t.crd.Definition != identity(v):
		ready.Reason, ready.Message = hnc.ReasonNotEstablished, "kube-apiserver does not serve the custom resources yet"
	default:
		ready.Status, ready.Reason, ready.Message = metav1.ConditionTrue, hnc.ReasonReady, "the custom resources can be used"
	}
	if before := meta.FindStatusCondition(v.Status.Conditions, hnc.ConditionReady); before != nil && before.Status == ready.Status {
		ready.LastTransitionTime = before.LastTransitionTime
	}
	status.Conditions = append(status.Conditions, ready)
	return status
}
