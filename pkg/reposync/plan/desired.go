// Package plan decides what has to be written so that a cluster is as a compiled repository says. It is pure: it uses
// no cluster and no clock.
package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/hydrate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

// ID identifies an object in a cluster, in any version of its kind.
type ID struct {
	// Kind is canonical: HNC's second names of kinds stand for the same objects.
	Kind            schema.GroupKind
	Namespace, Name string
}

// String returns the kind and the name, for messages.
func (id ID) String() string {
	if id.Namespace == "" {
		return fmt.Sprintf("%s %s", id.Kind, id.Name)
	}
	return fmt.Sprintf("%s %s/%s", id.Kind, id.Namespace, id.Name)
}

// Grants reports whether the object is one of RBAC: it grants what it does until it is gone.
func (id ID) Grants() bool { return id.Kind.Group == rbacv1.GroupName }

// GrantsIn returns the field that says what an object of RBAC grants, or to whom; "" for other objects.
func (id ID) GrantsIn() string {
	switch {
	case !id.Grants():
		return ""
	case strings.HasSuffix(id.Kind.Kind, "Binding"):
		return "subjects"
	}
	return "rules"
}

// Handling is how an object of the repository is kept.
type Handling int

// How objects are kept.
const (
	// Managed objects are created and updated.
	Managed Handling = iota
	// CreateOnly objects are created if they are missing, and never updated (client.lifecycle.config.k8s.io/mutation:
	// ignore).
	CreateOnly
	// Unmanaged objects are left alone (configmanagement.gke.io/managed: disabled).
	Unmanaged
)

// Object is an object as the repository wants it.
type Object struct {
	ID
	// Declared is the kind and the version that the repository uses.
	Declared schema.GroupVersionKind
	Handling Handling
	// Phase is when the object is written: all objects of a phase before any of the next.
	Phase int
	// Hash is that of the content.
	Hash uint64
	// Path is the file that declares the object, or its namespace if it is generated.
	Path string
	// Generated objects are not in the repository.
	Generated bool
	// Remnant objects are applied only if they exist: they were generated for earlier abstract directories, and have
	// fields of others.
	Remnant bool

	// above are the abstract ancestors that a Hierarchy names.
	above  []string
	source *object.Object
	sync   string
}

// Phases in which objects are written. They are deleted in the opposite order.
const (
	PhaseDefinitions = iota
	PhaseCluster
	PhaseNamespaces
	PhaseHierarchies
	PhaseRest
	// What restricts permissions comes before them. Bindings come after their roles.
	PhaseRoles
	PhaseBindings
	phases
)

// phaseOf returns the phase of an object.
func phaseOf(kind schema.GroupKind, namespace string) int {
	switch {
	case kind == object.CRD:
		return PhaseDefinitions
	case kind == object.Namespace:
		return PhaseNamespaces
	case kind.Group == rbacv1.GroupName && strings.HasSuffix(kind.Kind, "Binding"):
		return PhaseBindings
	case kind.Group == rbacv1.GroupName:
		return PhaseRoles
	case namespace == "":
		return PhaseCluster
	case kind == HierarchyKind:
		return PhaseHierarchies
	}
	return PhaseRest
}

// deletedAs returns the phase in whose turn an object is deleted. Permissions in the whole cluster may be those of the
// account, or of an operator that has to remove the finalizers of what is in namespaces.
func (id ID) deletedAs() int {
	if id.Grants() && id.Namespace == "" {
		return PhaseCluster
	}
	return phaseOf(id.Kind, id.Namespace)
}

// Desired returns the objects of a compiled repository as the RepositorySync of that name applies them, and an error
// if the context ends.
func Desired(ctx context.Context, result *repository.Result, sync string) ([]*Object, error) {
	desired := make([]*Object, 0, len(result.Objects))
	for _, o := range withAbstract(result) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		id := ID{object.Canonical(o.GroupKind()), o.GetNamespace(), o.GetName()}
		d := &Object{
			ID: id, Declared: o.GroupVersionKind(), Path: o.Path, Phase: phaseOf(id.Kind, id.Namespace), Generated: o.generated, Remnant: o.remnant, above: o.above, source: o.Object, sync: sync,
		}
		if value, _ := o.Annotation(object.AnnotationManaged); value == object.ManagedDisabled {
			d.Handling = Unmanaged
		} else if value, _ := o.Annotation(object.AnnotationMutation); value == object.MutationIgnore {
			d.Handling = CreateOnly
		}
		body, err := d.Body()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.ID, err)
		}
		d.Hash = Hash(body)
		desired = append(desired, d)
	}
	slices.SortStableFunc(desired, func(a, b *Object) int { return a.Phase - b.Phase })
	return desired, nil
}

// seed keeps others from writing content with the hash of another.
var seed = maphash.MakeSeed()

// Hash returns a hash of content. Another process has others.
func Hash(content []byte) uint64 { return maphash.Bytes(seed, content) }

// Detaches reports whether the object stays when it leaves the repository.
func (o *Object) Detaches() bool {
	value, _ := o.source.Annotation(object.AnnotationDeletion)
	return value == object.DeletionDetach
}

// Body returns the content to apply, in JSON.
func (o *Object) Body() ([]byte, error) { return json.Marshal(o.Content().Object) }

// Content returns the content to apply.
func (o *Object) Content() *unstructured.Unstructured {
	content := hydrate.Object(o.source)
	setLabel(content, hnc.LabelRepositorySync, o.sync)
	annotations := content.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[hnc.AnnotationSourcePath] = o.Path
	content.SetAnnotations(annotations)
	// A field that is left out stays as others have set it.
	if field := (ID{Kind: content.GroupVersionKind().GroupKind()}).GrantsIn(); field != "" && content.Object[field] == nil && content.Object["aggregationRule"] == nil {
		content.Object[field] = []any{}
	}
	return content
}

func setLabel(o *unstructured.Unstructured, key, value string) {
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[key] = value
	o.SetLabels(labels)
}
