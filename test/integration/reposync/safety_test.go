package reposync

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func TestUnsafeRevisionsAreNotApplied(t *testing.T) {
	r := newRepository(t, with(namespace("u/u-a", "u/u-b", "u/u-c"), "namespaces/u/policy.yaml", configMap("policy", "1")))
	start(t, "unsafe", r.spec())
	synced(t, "unsafe", r.head(t))
	r.commit(t, map[string]string{
		"namespaces/u/u-a/namespace.yaml": "", "namespaces/u/u-b/namespace.yaml": "", "namespaces/u/u-c/namespace.yaml": "", "namespaces/u/policy.yaml": "",
	})
	failing(t, "unsafe", hnc.ReasonUnsafeRevision, "KNV2006")
	commit := r.commit(t, with(namespace("u/u-a"), "namespaces/u/policy.yaml", configMap("policy", "2")))
	failing(t, "unsafe", hnc.ReasonUnsafeRevision, "MassDeletion")
	// The revision before remains in force.
	suite.Must(t, "drift", func() error {
		return tenant.CoreV1().ConfigMaps("u-b").Delete(t.Context(), "policy", metav1.DeleteOptions{})
	})
	eventually(t, "u-b", "policy=1")
	eventually(t, "u-a", "policy=1")
	change(t, "unsafe", func(s *v1alpha3.RepositorySyncSpec) { s.AllowMassDeletion = true })
	synced(t, "unsafe", commit)
	eventually(t, "u-a", "policy=2")
	eventually(t, "u-b", "-")
}

func TestInvalidRevisionsAreNotApplied(t *testing.T) {
	r := newRepository(t, with(namespace("i-eng/i-shop"), "namespaces/i-eng/policy.yaml", configMap("policy", "1")))
	start(t, "invalid", r.spec())
	synced(t, "invalid", r.head(t))
	r.commit(t, map[string]string{"namespaces/i-eng/policy.yaml": configMap("policy", "2"), "namespaces/i-eng/i-shop/again.yaml": configMap("policy", "3")})
	failing(t, "invalid", hnc.ReasonInvalidRepository, "KNV1029")
	eventually(t, "i-shop", "policy=1")
	// One tree label would stand for a directory and a namespace.
	files := with(namespace("i-shop/i-other"), "namespaces/i-eng/i-shop/again.yaml", "")
	commit := r.commit(t, files)
	failing(t, "invalid", hnc.ReasonInvalidRepository, "SharedName")
	eventually(t, "i-other", "-")
	change(t, "invalid", func(s *v1alpha3.RepositorySyncSpec) { s.AllowSharedNames = true })
	synced(t, "invalid", commit)
	suite.EventuallyEqual(t, "the label of the directory", "1", func() string {
		ns, err := admin.CoreV1().Namespaces().Get(t.Context(), "i-other", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		return ns.Labels[hnc.TreeLabel("i-shop")]
	})
	change(t, "invalid", func(s *v1alpha3.RepositorySyncSpec) { s.Source.Branch = "missing" })
	failing(t, "invalid", hnc.ReasonSourceUnavailable, "branch missing")
	change(t, "invalid", func(s *v1alpha3.RepositorySyncSpec) { s.Source = v1alpha3.RepositorySource{URL: "file:///etc"} })
	failing(t, "invalid", hnc.ReasonSourceUnavailable, "is not a Git repository below")
	eventually(t, "i-shop", "policy=2")
}

func TestNamespacesInUseAreNotDeleted(t *testing.T) {
	const grant = "namespaces/n/n-used/readers.yaml"
	r := newRepository(t, with(with(namespace("n/n-used", "n/n-parent", "n/n-free", "n/n-stay"), "namespaces/n/policy.yaml", configMap("policy", "1")), grant, readers))
	start(t, "used", r.spec())
	synced(t, "used", r.head(t))
	suite.Must(t, "own object", func() error {
		_, err := tenant.CoreV1().ConfigMaps("n-used").Patch(t.Context(), "own", types.ApplyPatchType,
			[]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"own"},"data":{"key":"mine"}}`), metav1.PatchOptions{FieldManager: "tenant"})
		return err
	})
	if _, err := admin.HNC.HncV1beta1().Subnamespaces("n-parent").Create(t.Context(),
		&v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "n-child"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	commit := r.commit(t, map[string]string{"namespaces/n/n-used/namespace.yaml": "", grant: "", "namespaces/n/n-free/namespace.yaml": ""})
	failing(t, "used", hnc.ReasonApplyFailed, "configmaps own")
	eventually(t, "n-free", "-")
	// It keeps its policies, and no permissions.
	eventually(t, "n-used", "own=mine policy=1")
	suite.EventuallyEqual(t, "RoleBindings", "", func() string { return bindings(t, "n-used") })
	suite.Must(t, "remove", func() error {
		return tenant.CoreV1().ConfigMaps("n-used").Delete(t.Context(), "own", metav1.DeleteOptions{})
	})
	synced(t, "used", commit)
	eventually(t, "n-used", "-")
	r.commit(t, map[string]string{"namespaces/n/n-parent/namespace.yaml": ""})
	failing(t, "used", hnc.ReasonApplyFailed, "namespace n-child below it")
	eventually(t, "n-parent", "policy=1")
}

// TestWhatRestrictsStaysWithThePermissions has a RoleBinding stay that has left the repository, by a finalizer.
func TestWhatRestrictsStaysWithThePermissions(t *testing.T) {
	held := strings.Replace(readers, "{name: readers}", "{name: readers, finalizers: [example.com/hold]}", 1)
	files := with(with(namespace("restricted"), "namespaces/restricted/policy.yaml", configMap("policy", "1")), "namespaces/restricted/readers.yaml", held)
	r := newRepository(t, files)
	start(t, "restricted", r.spec())
	synced(t, "restricted", r.head(t))
	eventually(t, "restricted", "policy=1")
	commit := r.commit(t, map[string]string{"namespaces/restricted/policy.yaml": "", "namespaces/restricted/readers.yaml": ""})
	failing(t, "restricted", hnc.ReasonApplyFailed, "until its finalizers are removed: example.com/hold")
	failing(t, "restricted", hnc.ReasonApplyFailed, "whose deletion has failed")
	eventually(t, "restricted", "policy=1")
	// It grants nothing again, whatever its managed fields have, and keeps the entry by which hns-sync knows it after a restart.
	granted := admin.RbacV1().RoleBindings("restricted")
	for _, times := range [][]metav1.ManagedFieldsEntry{nil, {unreadable("rbac.authorization.k8s.io/v1")}} {
		suite.Must(t, "restore", func() error {
			b, err := granted.Get(t.Context(), "readers", metav1.GetOptions{})
			if err != nil {
				return err
			}
			b.Subjects, b.ManagedFields = []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "ann"}}, append(b.ManagedFields, times...)
			_, err = granted.Update(t.Context(), b, metav1.UpdateOptions{})
			return err
		})
		suite.EventuallyEqual(t, "the RoleBinding", "0 true", func() string {
			b, err := granted.Get(t.Context(), "readers", metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			return fmt.Sprint(len(b.Subjects), " ", slices.ContainsFunc(b.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
				return e.Manager == "hns-sync-restricted" && e.Operation == metav1.ManagedFieldsOperationApply
			}))
		})
	}
	suite.Must(t, "finalizers", func() error {
		_, err := admin.RbacV1().RoleBindings("restricted").Patch(t.Context(), "readers", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		return err
	})
	synced(t, "restricted", commit)
	eventually(t, "restricted", "")
}

func TestAnnotationsOfObjects(t *testing.T) {
	disabled := "  annotations: {configmanagement.gke.io/managed: disabled}\n"
	detached := "  annotations: {client.lifecycle.config.k8s.io/deletion: detach}\n"
	ignored := "  annotations: {client.lifecycle.config.k8s.io/mutation: ignore}\n"
	files := namespace("o-shop")
	files["namespaces/o-shop/a.yaml"] = configMap("disabled", "1", disabled)
	files["namespaces/o-shop/b.yaml"] = configMap("released", "1")
	files["namespaces/o-shop/c.yaml"] = configMap("detached", "1", detached)
	files["namespaces/o-shop/d.yaml"] = configMap("ignored", "1", ignored)
	r := newRepository(t, files)
	start(t, "annotations", r.spec())
	synced(t, "annotations", r.head(t))
	eventually(t, "o-shop", "detached=1 ignored=1 released=1")
	commit := r.commit(t, map[string]string{
		"namespaces/o-shop/b.yaml": configMap("released", "2", disabled),
		"namespaces/o-shop/c.yaml": "",
		"namespaces/o-shop/d.yaml": configMap("ignored", "2", ignored),
	})
	synced(t, "annotations", commit)
	eventually(t, "o-shop", "detached=1 ignored=1 released=1")
	for _, name := range []string{"released", "detached"} {
		m, err := admin.CoreV1().ConfigMaps("o-shop").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || m.Labels[hnc.LabelRepositorySync] != "" {
			t.Errorf("%s: got %v, %v", name, m.Labels, err)
		}
	}
	synced(t, "annotations", r.commit(t, map[string]string{"namespaces/o-shop/b.yaml": ""}))
	eventually(t, "o-shop", "detached=1 ignored=1 released=1")
}

func TestObjectsOfAnotherSyncAreNotTakenOver(t *testing.T) {
	r := newRepository(t, with(namespace("t-shop"), "namespaces/t-shop/policy.yaml", configMap("policy", "1")))
	start(t, "first", r.spec())
	synced(t, "first", r.head(t))
	other := &repository{dir: r.dir}
	start(t, "second", other.spec())
	failing(t, "second", hnc.ReasonApplyFailed, `KNV1060: the object belongs to the RepositorySync "first"`)
	eventually(t, "t-shop", "policy=1")
	// An object that only has the label of a sync is not the sync's.
	suite.Must(t, "label", func() error {
		_, err := admin.CoreV1().ConfigMaps("t-shop").Patch(t.Context(), "own", types.ApplyPatchType,
			[]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"own","labels":{"hnc.x-k8s.io/repository-sync":"first"}}}`), metav1.PatchOptions{FieldManager: "tenant"})
		return err
	})
	synced(t, "first", r.commit(t, map[string]string{"namespaces/t-shop/policy.yaml": ""}))
	eventually(t, "t-shop", "own=")
	if err := operator.HNC.HncV1alpha3().RepositorySyncs().Delete(t.Context(), "first", metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

// TestPermissionsWaitForWhatRestrictsThem has the API server reject the NetworkPolicy of a namespace.
func TestPermissionsWaitForWhatRestrictsThem(t *testing.T) {
	policy := func(policyType string) string {
		return "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: deny}\nspec: {podSelector: {}, policyTypes: [" + policyType + "]}\n"
	}
	subjects := func(names ...string) string {
		binding := "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: readers}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\nsubjects:\n"
		for _, name := range names {
			binding += "- {kind: ServiceAccount, namespace: " + accounts + ", name: " + name + "}\n"
		}
		return binding
	}
	bound := func(want string) {
		t.Helper()
		suite.EventuallyEqual(t, "the subjects", want, func() string { return subjectsOf(t, "waiting", "readers") })
	}
	const deny, readers, waits = "namespaces/waiting/deny.yaml", "namespaces/waiting/readers.yaml", "waits for NetworkPolicy.networking.k8s.io waiting/deny"
	r := newRepository(t, with(with(namespace("waiting"), deny, policy("Wrong")), readers, subjects("author")))
	start(t, "waiting", r.spec())
	failing(t, "waiting", hnc.ReasonApplyFailed, waits)
	bound("NotFound")
	synced(t, "waiting", r.commit(t, map[string]string{deny: policy("Ingress")}))
	bound("author")
	// What grants less does not wait, what grants more does, also when the rejected object is not tried again.
	synced(t, "waiting", r.commit(t, map[string]string{readers: subjects("author", "operator")}))
	r.commit(t, map[string]string{deny: policy("Wrong"), readers: subjects("operator")})
	bound("operator")
	r.commit(t, map[string]string{readers: subjects("operator", "tenant")})
	failing(t, "waiting", hnc.ReasonApplyFailed, waits)
	bound("operator")
	synced(t, "waiting", r.commit(t, map[string]string{deny: policy("Egress")}))
	bound("operator tenant")
}

// TestRevokedPermissionsDoNotWait is an editor who keeps the Service of a repository out by an immutable field, so that
// what the repository grants would wait for it.
func TestRevokedPermissionsDoNotWait(t *testing.T) {
	t.Parallel()
	const ns, web, readers, admins, role = "revoked", "namespaces/revoked/web.yaml", "namespaces/revoked/readers.yaml", "namespaces/revoked/admins.yaml", "namespaces/revoked/role.yaml"
	service := func(selector string) string {
		return "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {clusterIP: None, ports: [{port: 80}], selector: {app: " + selector + "}}\n"
	}
	binding := func(name, role, subject string) string {
		return "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: " + name + "}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " +
			role + "}\nsubjects: [{kind: ServiceAccount, namespace: " + accounts + ", name: " + subject + "}]\n"
	}
	rules := func(resources string) string {
		return "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: role}\nrules: [{apiGroups: [''], resources: [" + resources + "], verbs: [get]}]\n"
	}
	granted := func(want string) {
		t.Helper()
		suite.EventuallyEqual(t, "what is granted", want, func() string {
			r, err := admin.RbacV1().Roles(ns).Get(t.Context(), "role", metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			var resources []string
			for i := range r.Rules {
				resources = append(resources, r.Rules[i].Resources...)
			}
			return fmt.Sprintf("readers: %s, admins: %s, role: %s", subjectsOf(t, ns, "readers"), subjectsOf(t, ns, "admins"), strings.Join(resources, " "))
		})
	}
	files := with(namespace(ns), web, service("a"))
	r := newRepository(t, with(with(with(files, readers, binding("readers", "view", "tenant")), admins, binding("admins", "admin", "tenant")), role, rules("pods, secrets")))
	start(t, "revoked", r.spec())
	synced(t, "revoked", r.head(t))
	granted("readers: tenant, admins: tenant, role: pods secrets")
	services := tenant.CoreV1().Services(ns)
	suite.Must(t, "replace the Service", func() error {
		if err := services.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		_, err := services.Create(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return apierrors.NewForbidden(corev1.Resource("services"), "web", errors.New("hns-sync was faster"))
		}
		return err
	})
	failing(t, "revoked", hnc.ReasonApplyFailed, "spec.clusterIPs[0]: Invalid value")
	r.commit(t, map[string]string{readers: binding("readers", "view", "operator"), admins: binding("admins", "view", "tenant"), role: rules("pods, configmaps")})
	failing(t, "revoked", hnc.ReasonApplyFailed, "waits for Service "+ns+"/web")
	granted("readers: , admins: NotFound, role: pods")
	suite.Must(t, "give the Service back", func() error { return services.Delete(t.Context(), "web", metav1.DeleteOptions{}) })
	synced(t, "revoked", r.head(t))
	granted("readers: operator, admins: tenant, role: pods configmaps")
}

// subjectsOf returns the names of the subjects of a RoleBinding, or why it cannot be read.
func subjectsOf(t *testing.T, namespace, name string) string {
	t.Helper()
	b, err := admin.RbacV1().RoleBindings(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return string(apierrors.ReasonForError(err))
	}
	var all []string
	for _, s := range b.Subjects {
		all = append(all, s.Name)
	}
	return strings.Join(all, " ")
}

// TestPermissionsWaitForLateHierarchies has a namespace stay whose name is an abstract ancestor's in the repository.
func TestPermissionsWaitForLateHierarchies(t *testing.T) {
	r := newRepository(t, namespace("late", "late-other"))
	start(t, "late", r.spec())
	synced(t, "late", r.head(t))
	suite.Must(t, "own object", func() error {
		_, err := tenant.CoreV1().ConfigMaps("late").Patch(t.Context(), "own", types.ApplyPatchType,
			[]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"own"}}`), metav1.PatchOptions{FieldManager: "tenant"})
		return err
	})
	commit := r.commit(t, with(with(namespace("late/late-leaf"), "namespaces/late/namespace.yaml", ""), "namespaces/late/late-leaf/readers.yaml", readers))
	failing(t, "late", hnc.ReasonApplyFailed, "it waits for Hierarchy.hnc.x-k8s.io late-leaf/")
	if got := bindings(t, "late-leaf"); got != "" {
		t.Errorf("got RoleBindings %q", got)
	}
	suite.Must(t, "remove", func() error {
		return tenant.CoreV1().ConfigMaps("late").Delete(t.Context(), "own", metav1.DeleteOptions{})
	})
	synced(t, "late", commit)
	if got := bindings(t, "late-leaf"); got != "readers<" {
		t.Errorf("got RoleBindings %q", got)
	}
}
