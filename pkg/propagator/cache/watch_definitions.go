package cache

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// The resource of ViewDefinitions, and a name for the CustomResourceDefinitions that are written for them.
const (
	definitions = "viewdefinitions"
	viewCRDs    = "customresourcedefinitions of views"
)

// CRDKind is the kind of CustomResourceDefinitions.
var CRDKind = hnc.CRDResource.GroupVersion().WithKind("CustomResourceDefinition")

// ViewCRD is what is known of a CustomResourceDefinition of a view.
type ViewCRD struct {
	Name, Group, ResourceVersion string
	UID                          types.UID
	// Root is the namespace of the view, and Definition says which spec of which ViewDefinition it has.
	Root, Definition string
	Terminating      bool
	Status           v1alpha3.ViewDefinitionStatus
}

// Definition is a ViewDefinition without its spec, of which it has the size.
type Definition struct {
	*v1alpha3.ViewDefinition
	SpecBytes int
}

// Definitions are the ViewDefinitions and the CustomResourceDefinitions that are written for them.
type Definitions struct {
	// Wanted are the ViewDefinitions by namespace and name.
	Wanted tree.ByNamespace[Definition]
	// CRDs are the CustomResourceDefinitions by their namespaces and names.
	CRDs tree.ByNamespace[*ViewCRD]
	// wantedListed and crdsListed report that they are complete.
	wantedListed, crdsListed bool
}

func newDefinitions() *Definitions {
	return &Definitions{Wanted: tree.ByNamespace[Definition]{}, CRDs: tree.ByNamespace[*ViewCRD]{}}
}

// Complete reports that what is missing does not exist.
func (d *Definitions) Complete() bool { return d.wantedListed && d.crdsListed }

// watchDefinitions watches ViewDefinitions, and the CustomResourceDefinitions of views. Nothing else waits for them.
func (c *Cache) watchDefinitions(ctx context.Context) {
	s, client := c.state, c.Hierarchy.HncV1alpha3().ViewDefinitions(metav1.NamespaceAll)
	d := s.Definitions
	reflect(ctx, c, definitions, &v1alpha3.ViewDefinition{}, client, guarded(c.guard, definitions, client),
		&store[Definition]{
			convert: func(object any) (Definition, error) { return newDefinition(object.(*v1alpha3.ViewDefinition)), nil },
			set:     s.setDefinition,
			remove: func(v Definition) {
				d.Wanted.Delete(v.Namespace, v.Name)
				s.handlers.definitionChanged(s, v.Namespace)
			},
			known: d.Wanted.All, identify: identify[Definition],
			synced: func() { d.wantedListed = true; s.handlers.definitionChanged(s, "") },
		})
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(CRDKind)
	reflect(ctx, c, viewCRDs, crd, c.Dynamic,
		listWatch(c.Dynamic.Resource(hnc.CRDResource), func(o *metav1.ListOptions) { o.LabelSelector = hnc.LabelViewRoot }),
		&store[*ViewCRD]{
			convert: newViewCRD,
			set:     s.setViewCRD,
			remove: func(crd *ViewCRD) {
				d.CRDs.Delete(crd.Root, crd.Name)
				s.handlers.definitionChanged(s, crd.Root)
			},
			known: d.CRDs.All,
			identify: func(crd *ViewCRD) (types.NamespacedName, string) {
				return types.NamespacedName{Namespace: crd.Root, Name: crd.Name}, crd.ResourceVersion
			},
			synced: func() { d.crdsListed = true; s.handlers.definitionChanged(s, "") },
		})
}

// newDefinition returns what decisions need of a ViewDefinition.
func newDefinition(v *v1alpha3.ViewDefinition) Definition {
	kept := *v
	kept.Spec, kept.ManagedFields = runtime.RawExtension{}, nil
	kept.Annotations = map[string]string{}
	for _, key := range []string{hnc.AnnotationRequester, hnc.AnnotationRequesterGroups} {
		kept.Annotations[key] = v.Annotations[key]
	}
	return Definition{&kept, len(v.Spec.Raw)}
}

func newViewCRD(object any) (*ViewCRD, error) {
	o := object.(*unstructured.Unstructured)
	crd := &ViewCRD{
		Name: o.GetName(), ResourceVersion: o.GetResourceVersion(), UID: o.GetUID(),
		Root: o.GetLabels()[hnc.LabelViewRoot], Definition: o.GetAnnotations()[hnc.AnnotationViewDefinition], Terminating: o.GetDeletionTimestamp() != nil,
	}
	crd.Group, _, _ = unstructured.NestedString(o.Object, "spec", "group")
	status, _, err := unstructured.NestedMap(o.Object, "status")
	if err != nil {
		return nil, err
	}
	return crd, runtime.DefaultUnstructuredConverter.FromUnstructured(status, &crd.Status)
}

// ObserveDefinition enters the result of our own write, unless the watch is past it.
func (c *Cache) ObserveDefinition(v *v1alpha3.ViewDefinition) {
	c.observe(definitions, v.ResourceVersion, func(s *State) { s.setDefinition(newDefinition(v)) })
}

// ObserveViewCRD does the same for a CustomResourceDefinition.
func (c *Cache) ObserveViewCRD(o *unstructured.Unstructured) {
	crd, err := newViewCRD(o)
	if err != nil {
		return
	}
	c.observe(viewCRDs, crd.ResourceVersion, func(s *State) { s.setViewCRD(crd) })
}

func (s *State) setDefinition(v Definition) {
	known, ok := s.Definitions.Wanted[v.Namespace][v.Name]
	if ok && !tree.Newer(v.ResourceVersion, known.ResourceVersion) {
		return
	}
	s.Definitions.Wanted.Set(v.Namespace, v.Name, v)
	if !ok || !onlyStatusDiffers(known, v) {
		s.handlers.definitionChanged(s, v.Namespace)
	}
}

// onlyStatusDiffers reports whether a ViewDefinition has a new status at most. One that somebody else has written is
// corrected when the namespace is checked next. If writing one led to another try, what is rejected with a different
// message each time would be tried without end.
func onlyStatusDiffers(known, v Definition) bool {
	updated := *v.ViewDefinition
	updated.ResourceVersion, updated.Status = known.ResourceVersion, known.Status
	return apiequality.Semantic.DeepEqual(&updated, known.ViewDefinition)
}

func (s *State) setViewCRD(crd *ViewCRD) {
	if known := s.Definitions.CRDs[crd.Root][crd.Name]; known != nil && !tree.Newer(crd.ResourceVersion, known.ResourceVersion) {
		return
	}
	s.Definitions.CRDs.Set(crd.Root, crd.Name, crd)
	s.handlers.definitionChanged(s, crd.Root)
}
