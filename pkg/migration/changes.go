package migration

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/privatefile"
)

// restoration decides what of an export is restored.
type restoration struct {
	*export
	// namespaces are those of the cluster by name, and uids those that were exported.
	namespaces map[string]*metav1.ObjectMeta
	uids       map[string]types.UID
	// deleted are the objects that were being deleted.
	deleted map[string]bool
}

// restoration returns what of an export is restored in the namespaces of the cluster.
func (c *clients) restoration(ctx context.Context, e *export) (*restoration, error) {
	namespaces, err := c.namespaces(ctx)
	if err != nil {
		return nil, err
	}
	r := &restoration{export: e, namespaces: namespaces, uids: make(map[string]types.UID, len(e.Namespaces)), deleted: map[string]bool{}}
	for _, ns := range e.Namespaces {
		r.uids[ns.Name] = ns.UID
	}
	for _, o := range e.Items {
		if resource := hncKinds[o.GetKind()]; resource != "" && o.GetDeletionTimestamp() != nil {
			r.deleted[keyOf(resource, o.GetNamespace(), o.GetName())] = true
		}
	}
	return r, nil
}

// missing returns why an object of HNC is not restored, "" if it is. Namespaces that were created again may belong to
// others.
func (r *restoration) missing(resource, namespace, name string) string {
	switch now := r.namespaces[namespace]; {
	case r.deleted[keyOf(resource, namespace, name)]:
		return "it was being deleted"
	case namespace == "":
		return ""
	case now == nil:
		return "its namespace no longer exists"
	case now.DeletionTimestamp != nil:
		return "its namespace is being deleted"
	case r.uids[namespace] != now.UID:
		return "its namespace was deleted and created again"
	case resource == anchors && r.namespaces[name] == nil && r.uids[name] != "":
		return "its sub-namespace no longer exists" // HNC would create it.
	}
	return ""
}

// kept returns the objects of a kind that are restored, and a line for each other one.
func (r *restoration) kept(kind string) (objects []*unstructured.Unstructured, leftOut []string) {
	for _, o := range r.of(kind) {
		resource := hncKinds[kind]
		if why := r.missing(resource, o.GetNamespace(), o.GetName()); why != "" {
			leftOut = append(leftOut, keyOf(resource, o.GetNamespace(), o.GetName())+": "+why)
		} else {
			objects = append(objects, o)
		}
	}
	return objects, leftOut
}

// describeChanges prints how hns-apiserver's objects differ from the export, and what of the export is not restored.
func (m *Migration) describeChanges(ctx context.Context, e *export) error {
	all, err := m.imports(ctx, e)
	if err != nil {
		return err
	}
	r, err := m.restoration(ctx, e)
	if err != nil {
		return err
	}
	before := map[string]any{}
	if r.missing(configurations, "", hnc.ConfigurationName) == "" {
		before = specsOf(all.resources)
	}
	for _, h := range slices.Concat(all.hierarchies, all.orphans) {
		if r.missing(hierarchyConfigurations, h.Namespace, h.Name) == "" {
			before[hierarchyKey(h)] = h.Spec
		}
	}
	for _, s := range all.subnamespaces {
		if r.missing(anchors, s.Namespace, s.Name) == "" {
			before[subnamespaceKey(s)] = s.Spec
		}
	}
	for _, q := range all.quotas {
		if r.missing(quotas, q.Namespace, q.Name) == "" {
			before[quotaKey(q)] = q.Spec
		}
	}
	now, err := m.specs(ctx)
	if err != nil {
		return err
	}
	if err := m.printList("These have changed since the export, and HNC will make them what they are there, with the copies:", changes(before, now)); err != nil {
		return err
	}
	var leftOut []string
	for kind := range hncKinds {
		_, lines := r.kept(kind)
		leftOut = append(leftOut, lines...)
	}
	slices.Sort(leftOut)
	return m.printList("These are not restored:", leftOut)
}

// specs returns the specs of what hns-apiserver has.
func (c *clients) specs(ctx context.Context) (map[string]any, error) {
	client := c.hierarchy.HncV1beta1()
	configuration, err := client.HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if gone(err) != nil {
		return nil, err
	}
	found := map[string]any{}
	if err == nil {
		found = specsOf(configuration.Spec.Resources)
	}
	hierarchies, err := client.Hierarchies("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, h := range hierarchies.Items {
		found[hierarchyKey(&h)] = h.Spec
	}
	subnamespaces, err := client.Subnamespaces("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, s := range subnamespaces.Items {
		found[subnamespaceKey(&s)] = s.Spec
	}
	quotas, err := client.HierarchicalResourceQuotas("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, q := range quotas.Items {
		found[quotaKey(&q)] = q.Spec
	}
	return found, nil
}

// hierarchyPrefix begins the keys of hierarchies.
const hierarchyPrefix = "hierarchies "

func hierarchyKey(h *v1beta1.Hierarchy) string { return hierarchyPrefix + h.Namespace }

func subnamespaceKey(s *v1beta1.Subnamespace) string {
	return keyOf("subnamespaces", s.Namespace, s.Name)
}

func quotaKey(q *v1beta1.HierarchicalResourceQuota) string {
	return keyOf(quotas, q.Namespace, q.Name)
}

func specsOf(resources []v1beta1.ResourceSpec) map[string]any {
	found := map[string]any{}
	for _, r := range resources {
		found[strings.TrimSuffix("kind "+r.Resource+"."+r.Group, ".")] = r
	}
	return found
}

// changes says what differs between the specs of an export and those of now.
func changes(before, now map[string]any) []string {
	both := maps.Clone(before)
	maps.Copy(both, now)
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(both)) {
		was, had := before[key]
		is, has := now[key]
		if name, found := strings.CutPrefix(key, hierarchyPrefix); found {
			// A root may have none.
			was, _ := was.(v1beta1.HierarchySpec)
			is, _ := is.(v1beta1.HierarchySpec)
			switch {
			case was.Parent != is.Parent:
				lines = append(lines, fmt.Sprintf("namespace %s has the parent %q, and %q in the export", name, is.Parent, was.Parent))
			case !apiequality.Semantic.DeepEqual(was, is):
				lines = append(lines, key+" differs from the export")
			}
			continue
		}
		switch {
		case !had:
			lines = append(lines, key+" is not in the export")
		case !has:
			lines = append(lines, key+" exists only in the export")
		case !apiequality.Semantic.DeepEqual(was, is):
			lines = append(lines, key+" differs from the export")
		}
	}
	return lines
}

// saveOwn writes what hns-apiserver has to a file beside the export, once: a repetition may find only some of the
// objects.
func (m *Migration) saveOwn(ctx context.Context) error {
	file := m.state.stored.Data[keySaved]
	if file == "" {
		own := &export{APIVersion: "v1", Kind: "List"}
		for _, resource := range []string{"hncconfigurations", "hierarchies", "subnamespaces", "hierarchicalresourcequotas"} {
			objects, err := m.list(ctx, v1beta1.SchemeGroupVersion.WithResource(resource))
			if err != nil {
				return err
			}
			for _, o := range objects {
				own.Items = append(own.Items, withoutServerFields(o))
			}
		}
		content, err := yaml.Marshal(own)
		if err != nil {
			return err
		}
		file = strings.TrimSuffix(m.File, filepath.Ext(m.File)) + "-hns-" + time.Now().UTC().Format("20060102T150405Z") + ".yaml"
		if err := privatefile.Write(file, content); err != nil {
			return fmt.Errorf("what hns-apiserver has cannot be written: %w; copy the export to a directory that you can write to, and name it by --export", err)
		}
		if err := m.state.record(ctx, keySaved, file); err != nil {
			return err
		}
	}
	return m.printf("What hns-apiserver has is in %s.\n", file)
}
