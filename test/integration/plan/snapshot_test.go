package plan

import (
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

// snapshot is the state: by "namespace/resource/name" the content, with the source of a copy; and what RoleBindings
// grant by namespace.
type snapshot struct {
	objects map[string]string
	access  map[string]map[string]bool
}

// look returns what is in the namespaces whose names begin with a prefix.
func look(t *testing.T, prefix string) snapshot {
	t.Helper()
	s := snapshot{map[string]string{}, map[string]map[string]bool{}}
	enter := func(m metav1.ObjectMeta, resource, value string) {
		if !strings.HasPrefix(m.Namespace, prefix) || m.Name == "kube-root-ca.crt" {
			return
		}
		if from, ok := m.Labels[hnc.LabelInheritedFrom]; ok {
			value += "<" + from
		}
		s.objects[m.Namespace+"/"+resource+"/"+m.Name] = value
	}
	configMaps, err := admin.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range configMaps.Items {
		enter(o.ObjectMeta, "configmaps", o.Data["value"])
	}
	secrets, err := admin.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range secrets.Items {
		enter(o.ObjectMeta, "secrets", string(o.Data["value"]))
	}
	bindings, err := admin.RbacV1().RoleBindings("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range bindings.Items {
		value := o.RoleRef.Name
		for _, subject := range o.Subjects {
			value += " " + subject.Name
			if s.access[o.Namespace] == nil {
				s.access[o.Namespace] = map[string]bool{}
			}
			s.access[o.Namespace][subject.Name+" "+o.RoleRef.Name] = true
		}
		enter(o.ObjectMeta, "rolebindings", value)
	}
	return s
}

func (s snapshot) String() string {
	var lines []string
	for key, value := range s.objects {
		lines = append(lines, key+"="+value)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// after returns what there will be if the plan is right.
func (s snapshot) after(t *testing.T, status v1alpha3.HierarchyPlanStatus) snapshot {
	t.Helper()
	next := snapshot{maps.Clone(s.objects), nil}
	for _, n := range status.Namespaces {
		for _, o := range n.Objects {
			key := n.Name + "/" + o.Resource + "/" + o.Name
			present, exists := s.objects[key]
			isCopy := strings.Contains(present, "<")
			switch o.Action {
			case v1alpha3.ActionRemove:
				if !exists || !isCopy {
					t.Errorf("%s is to be removed, but is %q", key, present)
				}
				delete(next.objects, key)
				continue
			case v1alpha3.ActionKeep:
				if !exists || isCopy {
					t.Errorf("%s is to be kept, but is %q", key, present)
				}
				continue
			case v1alpha3.ActionAdd:
				if exists {
					t.Errorf("%s is to be added, but is %q", key, present)
				}
			case v1alpha3.ActionChange:
				if !exists || !isCopy {
					t.Errorf("%s is to be changed, but is %q", key, present)
				}
			case v1alpha3.ActionOverwrite:
				if !exists || isCopy {
					t.Errorf("%s is to be overwritten, but is %q", key, present)
				}
			}
			if (o.Difference != "") != exists {
				t.Errorf("%s %s: difference %q", o.Action, key, o.Difference)
			}
			next.objects[key] = s.objects[o.Source+"/"+o.Resource+"/"+o.Name] + "<" + o.Source
		}
	}
	return next
}
