package clients

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/kustomize"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// flux does with its libraries what Flux does for the Kustomization app in the namespace default of a view.
type flux struct {
	*ssa.ResourceManager
	tenant *tenant
}

func newFlux(t *testing.T, tn *tenant) *flux {
	t.Helper()
	http, err := rest.HTTPClientFor(tn.view.Config)
	must(t, "client", err)
	mapper, err := apiutil.NewDynamicRESTMapper(tn.view.Config, http)
	must(t, "mapper", err)
	c, err := client.New(tn.view.Config, client.Options{Scheme: runtime.NewScheme(), HTTPClient: http, Mapper: mapper})
	must(t, "client", err)
	poller := polling.NewStatusPoller(c, mapper, polling.Options{})
	return &flux{ssa.NewResourceManager(c, poller, ssa.Owner{Field: "kustomize-controller", Group: "kustomize.toolkit.fluxcd.io"}), tn}
}

// build returns the objects of a version of the application.
func (f *flux) build(t *testing.T, version string) []*unstructured.Unstructured {
	t.Helper()
	source := t.TempDir()
	must(t, "source", os.CopyFS(source, os.DirFS("testdata")))
	kustomization := unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"postBuild": map[string]any{"substitute": map[string]any{"owner": f.tenant.root}},
	}}}
	path := filepath.Join(source, version)
	_, err := kustomize.NewGenerator(source, kustomization).WriteFile(path)
	must(t, "generate", err)
	built, err := kustomize.SecureBuild(source, path, false)
	must(t, "build", err)
	for _, resource := range built.Resources() {
		_, err := kustomize.SubstituteVariables(t.Context(), f.Client(), kustomization, resource)
		must(t, "substitute", err)
	}
	manifests, err := built.AsYaml()
	must(t, "manifests", err)
	objects, err := utils.ReadObjects(bytes.NewReader(manifests))
	must(t, "objects", err)
	f.SetOwnerLabels(objects, "app", metav1.NamespaceDefault)
	return objects
}

// apply applies a version of the application, waits until it is ready, and returns what it did with each object.
func (f *flux) apply(t *testing.T, version string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), suite.Deadline)
	defer cancel()
	options := ssa.DefaultApplyOptions()
	options.WaitInterval = suite.Interval
	// As with Flux's flag --custom-apply-stage-kinds: in any cluster, admin can bind only Roles that exist.
	options.CustomStageKinds = map[schema.GroupKind]struct{}{{Group: rbacv1.GroupName, Kind: "Role"}: {}}
	changes, err := f.ApplyAllStaged(ctx, f.build(t, version), options)
	must(t, "apply "+version, err)
	must(t, "wait for "+version, f.WaitForSet(changes.ToObjMetadataSet(), ssa.WaitOptions{Interval: suite.Interval, Timeout: suite.Deadline}))
	return summary(changes)
}

// prune deletes objects of the application, waits until they are gone, and returns what it did with each.
func (f *flux) prune(t *testing.T, objects []*unstructured.Unstructured) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), suite.Deadline)
	defer cancel()
	options := ssa.DefaultDeleteOptions()
	options.Inclusions = f.GetOwnerLabels("app", metav1.NamespaceDefault)
	changes, err := f.DeleteAll(ctx, objects, options)
	must(t, "delete", err)
	must(t, "wait for what is deleted", f.WaitForSetTermination(changes, ssa.WaitOptions{Interval: suite.Interval, Timeout: suite.Deadline}))
	return summary(changes)
}

// summary returns how many objects were changed in which way.
func summary(changes *ssa.ChangeSet) string {
	var counts []string
	for action, objects := range changes.ToGroupedMap() {
		counts = append(counts, fmt.Sprint(len(objects), " ", action))
	}
	slices.Sort(counts)
	return strings.Join(counts, ", ")
}

// upgrade applies the second version, and prunes what only the first one has.
func (f *flux) upgrade(t *testing.T) {
	t.Helper()
	if got, want := f.apply(t, "v2"), "11 configured"; got != want {
		t.Errorf("%s: the upgrade made %s, want %s", f.tenant.root, got, want)
	}
	kept := f.build(t, "v2")
	stale := slices.DeleteFunc(f.build(t, "v1"), func(object *unstructured.Unstructured) bool {
		return slices.ContainsFunc(kept, func(k *unstructured.Unstructured) bool {
			return utils.FmtUnstructured(k) == utils.FmtUnstructured(object)
		})
	})
	if got, want := f.prune(t, stale), "1 deleted"; got != want {
		t.Errorf("%s: pruning made %s, want %s", f.tenant.root, got, want)
	}
}

// unchanged fails the test if anything of a version is not as applied.
func (f *flux) unchanged(t *testing.T, version string) {
	t.Helper()
	for _, object := range f.build(t, version) {
		change, live, merged, err := f.Diff(t.Context(), object, ssa.DefaultDiffOptions())
		must(t, "diff", err)
		if change.Action != ssa.UnchangedAction {
			t.Errorf("%s: %s: %v, %v", f.tenant.root, change, live, merged)
		}
	}
}

// stored returns what the cluster has of the application of a tenant.
func (f *flux) stored(t *testing.T) string {
	t.Helper()
	ns := f.tenant.root + "-shop"
	d, err := admin.AppsV1().Deployments(ns).Get(t.Context(), "web", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "nothing"
	}
	must(t, "deployment", err)
	cm, err := admin.CoreV1().ConfigMaps(ns).Get(t.Context(), "web", metav1.GetOptions{})
	must(t, "config map", err)
	role, err := admin.RbacV1().Roles(f.tenant.root).Get(t.Context(), "view:"+f.tenant.root+":web", metav1.GetOptions{})
	must(t, "role", err)
	return fmt.Sprint(d.Spec.Template.Spec.Containers[0].Image, " ", cm.Data, " ", role.Rules[0].Verbs)
}

// Two tenants install, upgrade and remove the same application with Flux, with the same names.
func TestFluxInstallsAnApplicationInEachView(t *testing.T) {
	both := []*flux{newFlux(t, newTenant(t, "flux-a")), newFlux(t, newTenant(t, "flux-b"))}
	want := func(f *flux, what string) {
		t.Helper()
		if got := f.stored(t); got != what {
			t.Errorf("%s has %s, want %s", f.tenant.root, got, what)
		}
	}
	const first, second = "example.com/web:1 map[greeting:hello owner:%s] [list]", "example.com/web:2 map[greeting:good day owner:%s] [list watch]"
	for _, f := range both {
		if got, want := f.apply(t, "v1"), "12 created"; got != want {
			t.Errorf("%s: the installation made %s, want %s", f.tenant.root, got, want)
		}
	}
	for _, f := range both {
		f.unchanged(t, "v1")
		want(f, fmt.Sprintf(first, f.tenant.root))
	}
	both[0].upgrade(t)
	both[0].unchanged(t, "v2")
	both[1].unchanged(t, "v1")
	want(both[0], fmt.Sprintf(second, both[0].tenant.root))
	want(both[1], fmt.Sprintf(first, both[1].tenant.root))
	both[1].upgrade(t)
	if got, want := both[0].prune(t, both[0].build(t, "v2")), "11 deleted"; got != want {
		t.Errorf("removing made %s, want %s", got, want)
	}
	want(both[0], "nothing")
	both[1].unchanged(t, "v2")
	want(both[1], fmt.Sprintf(second, both[1].tenant.root))
}
