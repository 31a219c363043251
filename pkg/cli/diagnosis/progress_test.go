package diagnosis

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func TestBehind(t *testing.T) {
	namespace := func(name, parent string) metav1.PartialObjectMetadata {
		return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{hnc.TreeLabel(parent): "1"}}}
	}
	hierarchy := func(name, parent string, conditions ...string) v1beta1.Hierarchy {
		h := v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Namespace: name}, Spec: v1beta1.HierarchySpec{Parent: parent}}
		for _, condition := range conditions {
			h.Status.Conditions = append(h.Status.Conditions, metav1.Condition{Type: condition})
		}
		return h
	}
	terminating := namespace("terminating", "")
	terminating.DeletionTimestamp = &metav1.Time{}
	got := Behind([]metav1.PartialObjectMetadata{
		namespace("a", "root"), namespace("moved", "root"), namespace("new", ""), namespace("halted", ""), namespace("warned", ""), terminating,
	}, []v1beta1.Hierarchy{
		hierarchy("a", "root"), hierarchy("root", ""), hierarchy("new", "root"), hierarchy("moved", "a"), hierarchy("halted", "gone", "ActivitiesHalted"),
		hierarchy("warned", "root", "BadConfiguration"), hierarchy("terminating", "root"), hierarchy("deleted", "root"),
	})
	if want := []string{"moved", "new", "warned"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLag(t *testing.T) {
	expect(t, "none", Lag(nil, nil), OK, "show their trees")
	expect(t, "progress", Lag([]string{"a"}, []string{"b"}), OK, "show their trees")
	expect(t, "one", Lag([]string{"a", "b"}, []string{"b"}), Warning, "1 namespaces do not have the labels of their trees yet: b")
	many := []string{"a", "b", "c", "d", "e", "f"}
	expect(t, "many", Lag(many, many), Warning, "6 namespaces do not have the labels of their trees yet: a, b, c, d, e, ...")
}

func TestEtcdSize(t *testing.T) {
	for text, want := range map[string]struct {
		severity Severity
		text     string
	}{
		"": {Unknown, "does not report"},
		`apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} 2.0971520e+07`: {OK, "has 20 MiB"},
		"# HELP apiserver_storage_size_bytes of\n" + `apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} 1e+06
apiserver_storage_size_bytes{storage_cluster_id="etcd-1"} 1.9e+09
apiserver_storage_objects{resource="pods"} 9e+12`: {Warning, "more than 80% of etcd's default quota"},
		`apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} 8e+09`: {Error, "more than 80% of the 8 GiB"},
	} {
		got, err := EtcdSize("kube-apiserver", strings.NewReader(text))
		if err != nil || got.Severity != want.severity || !strings.Contains(got.Text, want.text) || got.Severity >= Warning && got.Hint == "" {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	if _, err := EtcdSize("kube-apiserver", strings.NewReader(`apiserver_storage_size_bytes{a="b"} x`)); err == nil {
		t.Error("no error")
	}
}

func TestPermissions(t *testing.T) {
	expect(t, "complete", Permissions("hns-apiserver", nil, nil)[0], OK, "complete")
	got := Permissions("hns-propagator", []string{"create namespaces"}, []string{"list pods"})
	if len(got) != 2 {
		t.Fatalf("got %v", got)
	}
	expect(t, "missing", got[0], Error, "missing: create namespaces")
	expect(t, "missing for a kind", got[1], Warning, "missing for configured kinds: list pods")
	configuration := &v1beta1.HNCConfiguration{Spec: v1beta1.HNCConfigurationSpec{Resources: []v1beta1.ResourceSpec{
		{Resource: "configmaps"}, {Resource: "secrets", Mode: v1beta1.Ignore},
	}}}
	if permissions := KindPermissions(configuration); len(permissions) != 1 || permissions[0].Resource != "configmaps" {
		t.Errorf("got %v, want those of configmaps; secrets are ignored", permissions)
	}
}

func TestAggregation(t *testing.T) {
	expect(t, "ours", Aggregation("edit", []rbacv1.PolicyRule{{APIGroups: []string{""}}, {APIGroups: []string{hnc.GroupName}}}), OK, "contains permissions")
	expect(t, "none", Aggregation("edit", []rbacv1.PolicyRule{{APIGroups: []string{""}}}), Warning, "cannot use hierarchies")
}
