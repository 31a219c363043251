package reposync

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// TestTenantsCannotEvadeThePolicy is a tenant who may write the ConfigMaps of a namespace, and tries to keep those that
// have left the repository, to change them unnoticed, and to have others deleted.
func TestTenantsCannotEvadeThePolicy(t *testing.T) {
	t.Parallel()
	const policyFile, otherFile = "namespaces/v-shop/policy.yaml", "namespaces/v-shop/other.yaml"
	r := newRepository(t, with(with(namespace("v-shop"), policyFile, configMap("policy", "1")), otherFile, configMap("other", "1")))
	start(t, "evaded", r.spec())
	synced(t, "evaded", r.head(t))
	maps := tenant.CoreV1().ConfigMaps("v-shop")
	force := true
	for _, attack := range []struct {
		what, name, body string
		kind             types.PatchType
		options          metav1.PatchOptions
		denied           string
	}{
		{"remove the label", "policy", `{"metadata":{"labels":{"hnc.x-k8s.io/repository-sync":null}}}`, types.MergePatchType, metav1.PatchOptions{},
			"belongs to the RepositorySync evaded"},
		{"give it to another RepositorySync", "policy", `{"metadata":{"labels":{"hnc.x-k8s.io/repository-sync":"x"}}}`, types.MergePatchType, metav1.PatchOptions{},
			"would belong to the RepositorySync x"},
		{"make it a copy", "policy", `{"metadata":{"labels":{"hnc.x-k8s.io/inherited-from":"x"}}}`, types.MergePatchType, metav1.PatchOptions{}, "label hnc.x-k8s.io/inherited-from"},
		{"remove the field manager", "policy", `{"metadata":{"managedFields":[{}]}}`, types.MergePatchType, metav1.PatchOptions{}, "would belong to the RepositorySync evaded"},
		{"have it forget what the field manager applied", "policy", `{"metadata":{"managedFields":[{"manager":"hns-sync-evaded","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:key":{}}}}]}}`,
			types.MergePatchType, metav1.PatchOptions{}, "would belong to the RepositorySync evaded"},
		{"write as the field manager", "policy", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"policy","labels":{"hnc.x-k8s.io/repository-sync":"evaded"},
"annotations":{"hnc.x-k8s.io/source-path":"` + policyFile + `"}},"data":{"key":"2"}}`, types.ApplyPatchType, metav1.PatchOptions{FieldManager: "hns-sync-evaded", Force: &force},
			"would belong to the RepositorySync evaded"},
		{"forge another one", "forged", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"forged","labels":{"hnc.x-k8s.io/repository-sync":"evaded"}}}`,
			types.ApplyPatchType, metav1.PatchOptions{FieldManager: "hns-sync-evaded"}, "would belong to the RepositorySync evaded"},
		{"detach it", "policy", `{"metadata":{"annotations":{"client.lifecycle.config.k8s.io/deletion":"detach","configmanagement.gke.io/managed":"disabled",
"client.lifecycle.config.k8s.io/mutation":"ignore"}}}`, types.MergePatchType, metav1.PatchOptions{}, ""},
	} {
		suite.Must(t, attack.what, func() error {
			_, err := maps.Patch(t.Context(), attack.name, attack.kind, []byte(attack.body), attack.options)
			if attack.denied == "" || apierrors.IsInternalError(err) {
				return err
			}
			forbidden(t, attack.what, err, attack.denied)
			return nil
		})
	}
	// kube-apiserver keeps the entries of all field managers if it cannot process those of the request.
	suite.Must(t, "change it without a trace", func() error {
		before, err := maps.Get(t.Context(), "policy", metav1.GetOptions{})
		if err != nil {
			return err
		}
		after, err := maps.Patch(t.Context(), "policy", types.MergePatchType, []byte(`{"data":{"key":"8"},"metadata":{"managedFields":[
{"manager":"x","operation":"Update","apiVersion":"a/b/c","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{}}}]}}`), metav1.PatchOptions{})
		if err == nil && (after.Data["key"] != "8" || !apiequality.Semantic.DeepEqual(before.ManagedFields, after.ManagedFields)) {
			t.Errorf("got %v, and the field managers %v instead of %v", after.Data, after.ManagedFields, before.ManagedFields)
		}
		return err
	})
	eventually(t, "v-shop", "other=1 policy=1")
	// It is corrected all the same, and deleted with its file. What is like it, but is not from the repository, stays.
	if _, err := maps.Patch(t.Context(), "policy", types.MergePatchType, []byte(`{"data":{"key":"9"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "v-shop", "other=1 policy=1")
	synced(t, "evaded", r.commit(t, map[string]string{policyFile: ""}))
	eventually(t, "v-shop", "other=1")
}

// TestStatusesAreNoFights is a tenant whose writes change the status of a quota many times in a second, which looks like
// changes without a trace.
func TestStatusesAreNoFights(t *testing.T) {
	t.Parallel()
	r := newRepository(t, with(namespace("st-shop"), "namespaces/st-shop/quota.yaml",
		"apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: many}\nspec: {hard: {count/configmaps: 1000}}\n"))
	start(t, "statuses", r.spec())
	synced(t, "statuses", r.head(t))
	for i := range 100 {
		suite.Must(t, "a ConfigMap", func() error {
			_, err := tenant.CoreV1().ConfigMaps("st-shop").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("m", i)}}, metav1.CreateOptions{})
			return err
		})
		s, err := admin.HNC.HncV1alpha3().RepositorySyncs().Get(t.Context(), "statuses", metav1.GetOptions{})
		if err != nil || !meta.IsStatusConditionTrue(s.Status.Conditions, hnc.ConditionReady) {
			t.Fatalf("after %d: %v, %v", i, s.Status, err)
		}
	}
	synced(t, "statuses", r.commit(t, map[string]string{"README.md": "Not applied."}))
}

// unreadable returns managed fields with more levels than decoders accept in JSON, and a time that they do not.
func unreadable(version string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: "tenant", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: version, FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(strings.Repeat(`{"f:a":`, 9_998) + "{}" + strings.Repeat("}", 9_998)),
		Time:     &metav1.Time{Time: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
}

// TestTenantsDoNotFillObjects is an editor who changes an object of a repository, and fills it so that what the
// repository sets does not fit, or does not leave it.
func TestTenantsDoNotFillObjects(t *testing.T) {
	t.Parallel()
	const mapFile = "namespaces/f-shop/map.yaml"
	const policy = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: deny}\nspec: {podSelector: {}, policyTypes: [Ingress], ingress: []}\n"
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {paused: false, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: c}]}}}\n"
	r := newRepository(t, with(with(with(namespace("f-shop"), "namespaces/f-shop/deny.yaml", policy), "namespaces/f-shop/web.yaml", deployment), mapFile, configMap("policy", "1", "  labels: {tier: restricted}\n")))
	start(t, "filled", r.spec())
	synced(t, "filled", r.head(t))
	// As many annotations as Kubernetes allows, and managed fields that cannot be read.
	policies := tenant.NetworkingV1().NetworkPolicies("f-shop")
	suite.Must(t, "annotations", func() error {
		return retry.RetryOnConflict(suite.Backoff, func() error {
			p, err := policies.Get(t.Context(), "deny", metav1.GetOptions{})
			if err != nil {
				return err
			}
			p.ManagedFields = append(p.ManagedFields, unreadable("networking.k8s.io/v1"))
			p.Annotations, p.Spec.Ingress = map[string]string{"fill": strings.Repeat("x", 256<<10-len("fill"))}, []networkingv1.NetworkPolicyIngressRule{{}}
			_, err = policies.Update(t.Context(), p, metav1.UpdateOptions{})
			return err
		})
	})
	suite.EventuallyEqual(t, "the policy", "namespaces/f-shop/deny.yaml 0", func() string {
		p, err := admin.NetworkingV1().NetworkPolicies("f-shop").Get(t.Context(), "deny", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(p.Annotations[hnc.AnnotationSourcePath], " ", len(p.Spec.Ingress))
	})

	// The same in a template, without the time or the annotations.
	deployments := tenant.AppsV1().Deployments("f-shop")
	for _, timed := range []bool{true, false} {
		suite.Must(t, "template", func() error {
			return retry.RetryOnConflict(suite.Backoff, func() error {
				d, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
				if err != nil {
					return err
				}
				entry := unreadable("apps/v1")
				if d.Spec.Paused = true; timed {
					d.Spec.Template.CreationTimestamp = *entry.Time
				} else {
					entry.Time, d.Annotations = nil, map[string]string{"fill": strings.Repeat("x", 256<<10-len("fill"))}
				}
				d.Spec.Template.ManagedFields, d.ManagedFields = []metav1.ManagedFieldsEntry{entry}, append(d.ManagedFields, entry)
				_, err = deployments.Update(t.Context(), d, metav1.UpdateOptions{})
				return err
			})
		})
		suite.EventuallyEqual(t, "the Deployment", "false true 0", func() string {
			d, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			return fmt.Sprint(d.Spec.Paused, " ", d.Spec.Template.CreationTimestamp.IsZero(), " ", len(d.Spec.Template.ManagedFields))
		})
	}

	// As large an object as etcd stores, which one of the same size shows that is not the repository's.
	maps, all := tenant.CoreV1().ConfigMaps("f-shop"), admin.CoreV1().ConfigMaps("f-shop")
	fill := func(name string, n int) error {
		return retry.RetryOnConflict(suite.Backoff, func() error {
			m, err := maps.Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			m.Annotations, m.Data = map[string]string{"fill": strings.Repeat("x", n)}, map[string]string{"key": "2", "fill": strings.Repeat("x", 1_000_000)}
			m.Finalizers = nil
			for i := range 700 {
				m.Finalizers = append(m.Finalizers, fmt.Sprintf("%0200d.example.com/hold", i))
			}
			// It owns what the repository may remove.
			m.ManagedFields = append(m.ManagedFields, metav1.ManagedFieldsEntry{
				Manager: "forged", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", FieldsType: "FieldsV1",
				FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:tier":{}}}}`),
			})
			// kube-apiserver leaves out the field managers of an object that is too large.
			m, err = maps.Update(t.Context(), m, metav1.UpdateOptions{})
			if err == nil && len(m.ManagedFields) == 0 {
				err = errors.New("too large")
			}
			return err
		})
	}
	const least = 250_000
	most := least - 1 + sort.Search(256<<10-len("fill")-least, func(n int) bool {
		if _, err := all.Patch(t.Context(), "twinny", types.ApplyPatchType, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twinny","labels":{"hnc.x-k8s.io/repository-sinc":"filled","tier":"restricted"},
"annotations":{"hnc.x-k8s.io/sourcf-path":"namespaces/f-shop/map.yaml"}},"data":{"key":"1"}}`), metav1.PatchOptions{FieldManager: "hns-sinc-filled"}); err != nil {
			t.Fatal(err)
		}
		filled := fill("twinny", least+n)
		_, err := all.Patch(t.Context(), "twinny", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err = errors.Join(err, all.Delete(t.Context(), "twinny", metav1.DeleteOptions{})); err != nil {
			t.Fatal(err)
		}
		return filled != nil
	})
	suite.Must(t, "fill the ConfigMap", func() error { return fill("policy", most) })
	eventually(t, "f-shop", "policy=1")
	if m, err := all.Get(t.Context(), "policy", metav1.GetOptions{}); err != nil || len(m.Finalizers) > 0 || m.Data["fill"] != "" || most < least || most+len("fill") > 255<<10 {
		t.Errorf("with annotations of %d bytes, got %v and %d finalizers", most, err, len(m.Finalizers))
	}
	synced(t, "filled", r.head(t))
	synced(t, "filled", r.commit(t, map[string]string{mapFile: configMap("policy", "2")}))
	if m, err := all.Get(t.Context(), "policy", metav1.GetOptions{}); err != nil || m.Data["key"] != "2" || m.Labels["tier"] != "" {
		t.Errorf("after a commit that removes a label: %v, %v and the field managers %v, %v", m.Data, m.Labels, m.ManagedFields, err)
	}
}

// A namespace is no copy, whatever who may patch it labels it with.
func TestNoLabelTakesANamespaceOutOfSight(t *testing.T) {
	t.Parallel()
	const file = "namespaces/sight-shop/namespace.yaml"
	// Half of the namespaces of a repository do not go at once.
	declared := with(namespace("sight-other", "sight-third"), file, "apiVersion: v1\nkind: Namespace\nmetadata: {name: sight-shop, labels: {tier: restricted}}\n")
	r := newRepository(t, with(declared, "namespaces/sight-shop/map.yaml", configMap("policy", "1")))
	start(t, "sight", r.spec())
	synced(t, "sight", r.head(t))
	patch := func(labels string) error {
		_, err := tenant.CoreV1().Namespaces().Patch(t.Context(), "sight-shop", types.MergePatchType, []byte(`{"metadata":{"labels":`+labels+`}}`), metav1.PatchOptions{})
		return err
	}
	for labels, denied := range map[string]string{
		`{"hnc.x-k8s.io/inherited-from":"x"}`:                                          "belongs to the RepositorySync sight and is no copy",
		`{"hnc.x-k8s.io/inherited-from":"x","tier":"privileged"}`:                      "belongs to the RepositorySync sight and is no copy",
		`{"hnc.x-k8s.io/inherited-from":"x","hnc.x-k8s.io/repository-sync":null}`:      "belongs to the RepositorySync sight",
		`{"hnc.x-k8s.io/inherited-from":"x","hnc.x-k8s.io/repository-sync":"another"}`: "would belong to the RepositorySync another",
	} {
		suite.Must(t, labels, func() error {
			err := patch(labels)
			if apierrors.IsInternalError(err) {
				return err
			}
			forbidden(t, labels, err, denied)
			return nil
		})
	}
	suite.Must(t, "labels of a tenant", func() error { return patch(`{"tier":"privileged"}`) })
	// The label may be older than the policy.
	if _, err := admin.CoreV1().Namespaces().Patch(t.Context(), "sight-shop", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"hnc.x-k8s.io/inherited-from":"x"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Must(t, "labels of a tenant", func() error { return patch(`{"tier":"privileged"}`) })
	suite.EventuallyEqual(t, "the label", "restricted", func() string {
		ns, err := admin.CoreV1().Namespaces().Get(t.Context(), "sight-shop", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		return ns.Labels["tier"]
	})
	suite.Must(t, "hide it", func() error {
		err := patch(`{"hnc.x-k8s.io/repository-sync":null}`)
		if apierrors.IsInternalError(err) {
			return err
		}
		forbidden(t, "hide it", err, "belongs to the RepositorySync sight")
		return nil
	})
	synced(t, "sight", r.commit(t, map[string]string{file: "", "namespaces/sight-shop/map.yaml": ""}))
	suite.Eventually(t, "the namespace goes with the repository", func() error {
		ns, err := admin.CoreV1().Namespaces().Get(t.Context(), "sight-shop", metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && ns.DeletionTimestamp != nil {
			return nil
		}
		return fmt.Errorf("it is there: %w", err)
	})
}

// TestRepositoriesDoNotPretendToBeTheServers has metadata by which the servers recognize what they have written.
func TestRepositoriesDoNotPretendToBeTheServers(t *testing.T) {
	t.Parallel()
	const file = "namespaces/w-shop/map.yaml"
	r := newRepository(t, with(namespace("w-shop"), file, configMap("a", "1")))
	start(t, "pretends", r.spec())
	synced(t, "pretends", r.head(t))
	for _, attack := range []struct{ path, content, want string }{
		{file, configMap("a", "2", "  labels: {hnc.x-k8s.io/inherited-from: default}\n"), "ReservedMetadata"},
		{file, configMap("a", "2", "  labels: {hnc.x-k8s.io/repository-sync: other}\n"), "ReservedMetadata"},
		{file, configMap("a", "2", "  ownerReferences: [{apiVersion: v1, kind: Namespace, name: default, uid: x}]\n"), "KNV1045"},
		{file, configMap("a", "2", "  labels: {default.tree.hnc.x-k8s.io/depth: \"1\"}\n"), "KNV1057"},
		{"namespaces/w-team/kube-system/namespace.yaml", namespace("kube-system")["namespaces/kube-system/namespace.yaml"], "ExcludedNamespace"},
		{"namespaces/kube-system/w-north/namespace.yaml", namespace("w-north")["namespaces/w-north/namespace.yaml"], "ReservedDirectory"},
	} {
		r.commit(t, map[string]string{attack.path: attack.content})
		failing(t, "pretends", hnc.ReasonInvalidRepository, attack.want)
		restored := ""
		if attack.path == file {
			restored = configMap("a", "1")
		}
		synced(t, "pretends", r.commit(t, map[string]string{attack.path: restored}))
	}
	eventually(t, "w-shop", "a=1")
}
