package cli

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
)

// kindArg is the kind that RESOURCE[.GROUP] names.
func kindArg(text string) v1beta1.ResourceSpec {
	named := schema.ParseGroupResource(text)
	return v1beta1.ResourceSpec{Group: named.Group, Resource: named.Resource}
}

// resolvesTo returns whether an entry names the kind, as servers resolve it.
func resolvesTo(mapper meta.RESTMapper, resource schema.GroupResource) func(v1beta1.ResourceSpec) bool {
	return func(entry v1beta1.ResourceSpec) bool {
		mapping, err := kinds.Resolve(mapper, entry.Group, entry.Resource)
		return err == nil && mapping.Resource.GroupResource() == resource
	}
}

// entryOf returns the index of the entry for a kind, -1 without one: the first that names the kind in any way, such as
// without its group, because that one is in effect. A kind that the cluster does not have is found by its very name
// only. Errors are those of discovery.
func (f *Factory) entryOf(entries []v1beta1.ResourceSpec, kind v1beta1.ResourceSpec) (int, error) {
	if len(entries) == 0 {
		return -1, nil
	}
	mapper, err := f.mapper()
	if err != nil {
		return -1, err
	}
	mapping, err := kinds.Resolve(mapper, kind.Group, kind.Resource)
	switch {
	case err == nil:
		return slices.IndexFunc(entries, resolvesTo(mapper, mapping.Resource.GroupResource())), nil
	case kinds.Reason(err) == hnc.ReasonUnknown:
		return -1, err
	}
	return slices.IndexFunc(entries, func(e v1beta1.ResourceSpec) bool { return e.Group == kind.Group && e.Resource == kind.Resource }), nil
}

// withModes sets the modes of entries in current, and appends entries of other kinds. It changes current.
func (f *Factory) withModes(current, entries []v1beta1.ResourceSpec) ([]v1beta1.ResourceSpec, error) {
	for _, entry := range entries {
		i, err := f.entryOf(current, entry)
		if err != nil {
			return nil, err
		}
		if i < 0 {
			current = append(current, entry)
		} else {
			current[i].Mode = entry.Mode
		}
	}
	return current, nil
}

// removeKind removes the entry for a kind.
func (f *Factory) removeKind(spec *v1beta1.HNCConfigurationSpec, kind v1beta1.ResourceSpec) error {
	i, err := f.entryOf(spec.Resources, kind)
	if i >= 0 {
		spec.Resources = slices.Delete(spec.Resources, i, i+1)
	}
	return err
}
