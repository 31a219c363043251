package cache

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// The resource of ViewDefinitions, and a name for the CustomResourceDefinitions that are written for them.
const (
	definitions = "viewdefinitions"
	viewCRDs    = "customresourcedefinitions of views"
)

// CRDs is the resource of CustomResourceDefinitions, and CRDKind its kind.
var (
	CRDs    = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	CRDKind = CRDs.GroupVersion().WithKind("CustomResourceDefinition")
)

// ViewCRD is what is known of a CustomResourceDefinition of a view.
type ViewCRD struct {
	Name, Group, ResourceVersion string
	UID                          types.UID
	// Root is the namespace of the view, and Definition says which spec of which ViewDefinition it has.
	Root, Definition string
	Terminating      bool
	Status           v1alpha3.ViewDefinitionStatus
}

// Definitions are the ViewDefinitions and the CustomResourceDefinitions that are written for them.
type Definitions struct {
	// Wanted are the ViewDefinitions without their specs, by namespace and name.
	Wanted map[string]map[string]*v1alpha3.ViewDefinition
	// CRDs are the CustomResourceDefinitions by their namespaces and names.
	CRDs map[string]map[string]*ViewCRD
	// wantedListed and crdsListed report that they are complete.
	wantedListed, crdsListed bool
}

func newDefinitions() *Definitions {
	return &Definitions{Wanted: map[string]map[string]*v1alpha3.ViewDefinition{}, CRDs: map[string]map[string]*ViewCRD{}}
}

// Complete reports that what is missing does not exist.
func (d *Definitions) Complete() bool { return d.wantedListed && d.crdsListed }

func set[T any](m map[string]map[string]T, namespace, name string, value T) {
	if m[namespace] == nil {
		m[namespace] = map[string]T{}
	}
	m[namespace][name] = value
}

func unset[T any](m map[string]map[string]T, namespace, name string) {
	if delete(m[namespace], name); len(m[namespace]) == 0 {
		delete(m, namespace)
	}
}

// watchDefinitions watches ViewDefinitions, and the CustomResourceDefinitions of views. Nothing else waits for them.
func (c *Cache) watchDefinitions(ctx context.Context) {
	s, client := c.state, c.Hierarchy.HncV1alpha3().ViewDefinitions(metav1.NamespaceAll)
	d := s.Definitions
	reflect(ctx, c, definitions, &v1alpha3.ViewDefinition{}, client, c.guard.watch(definitions, client.Watch),
		c.guard.list(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) }),
		&store[*v1alpha3.ViewDefinition]{
			convert: func(object any) (*v1alpha3.ViewDefinition, error) {
				return withoutSpec(object.(*v1alpha3.ViewDefinition)), nil
			},
			set: s.setDefinition,
			remove: func(v *v1alpha3.ViewDefinition) {
				unset(d.Wanted, v.Namespace, v.Name)
				s.handlers.definitionChanged(s, v.Namespace)
			},
			replace: s.replaceDefinitions,
			synced:  func() { d.wantedListed = true; s.handlers.definitionChanged(s, "") },
		})
	crds := c.Dynamic.Resource(CRDs)
	selected := func(o metav1.ListOptions) metav1.ListOptions {
		o.LabelSelector = hnc.LabelViewRoot
		return o
	}
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(CRDKind)
	reflect(ctx, c, viewCRDs, crd, c.Dynamic,
		func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return crds.Watch(ctx, selected(o))
		},
		func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return crds.List(ctx, selected(o))
		},
		&store[*ViewCRD]{
			convert: newViewCRD,
			set:     s.setViewCRD,
			remove: func(crd *ViewCRD) {
				unset(d.CRDs, crd.Root, crd.Name)
				s.handlers.definitionChanged(s, crd.Root)
			},
			replace: s.replaceViewCRDs,
			synced:  func() { d.crdsListed = true; s.handlers.definitionChanged(s, "") },
		})
}

// withoutSpec returns what decisions need of a ViewDefinition.
func withoutSpec(v *v1alpha3.ViewDefinition) *v1alpha3.ViewDefinition {
	kept := *v
	kept.Spec, kept.ManagedFields = runtime.RawExtension{}, nil
	kept.Annotations = map[string]string{}
	for _, key := range []string{hnc.AnnotationRequester, hnc.AnnotationRequesterGroups} {
		kept.Annotations[key] = v.Annotations[key]
	}
	return &kept
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
	c.Update(func(s *State) {
		if s.versions.ahead(definitions, v.ResourceVersion) {
			s.setDefinition(withoutSpec(v))
		}
	})
}

// ObserveViewCRD does the same for a CustomResourceDefinition.
func (c *Cache) ObserveViewCRD(o *unstructured.Unstructured) {
	crd, err := newViewCRD(o)
	if err != nil {
		return
	}
	c.Update(func(s *State) {
		if s.versions.ahead(viewCRDs, crd.ResourceVersion) {
			s.setViewCRD(crd)
		}
	})
}

func (s *State) setDefinition(v *v1alpha3.ViewDefinition) {
	set(s.Definitions.Wanted, v.Namespace, v.Name, v)
	s.handlers.definitionChanged(s, v.Namespace)
}

func (s *State) setViewCRD(crd *ViewCRD) {
	set(s.Definitions.CRDs, crd.Root, crd.Name, crd)
	s.handlers.definitionChanged(s, crd.Root)
}

func (s *State) replaceDefinitions(list []*v1alpha3.ViewDefinition, newer func(string) bool) {
	replaceAll(s, s.Definitions.Wanted, list, newer, s.setDefinition,
		func(v *v1alpha3.ViewDefinition) (string, string, string) {
			return v.Namespace, v.Name, v.ResourceVersion
		})
}

func (s *State) replaceViewCRDs(list []*ViewCRD, newer func(string) bool) {
	replaceAll(s, s.Definitions.CRDs, list, newer, s.setViewCRD,
		func(crd *ViewCRD) (string, string, string) { return crd.Root, crd.Name, crd.ResourceVersion })
}

func replaceAll[T any](s *State, known map[string]map[string]T, list []T, newer func(string) bool, set func(T), key func(T) (namespace, name, version string)) {
	listed := map[[2]string]bool{}
	for _, each := range list {
		namespace, name, version := key(each)
		listed[[2]string{namespace, name}] = true
		if before, ok := known[namespace][name]; ok {
			if _, _, old := key(before); !tree.Newer(version, old) {
				continue
			}
		}
		set(each)
	}
	for namespace, of := range known {
		for name, each := range of {
			if _, _, version := key(each); !listed[[2]string{namespace, name}] && !newer(version) {
				unset(known, namespace, name)
				s.handlers.definitionChanged(s, namespace)
			}
		}
	}
}
