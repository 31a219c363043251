package treerules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// The creation of the missing parent of orphans as a sub-namespace takes them into another tree.
func TestAdoptionNeedsAdminOfTheOrphans(t *testing.T) {
	parents := map[string]string{"a": "", "orphan1": "gone", "orphan2": "gone", "left": "gone"}
	f := newFixture(t, parents)
	f.stored.put(t, "void", edgeValue{Parent: "gone", Hierarchy: "uid-of-a-namespace-that-is-gone"})
	f.stored.put(t, "left", edgeValue{Parent: "a", Hierarchy: uid("left")}) // the index is stale
	f.marks["gone"] = 7
	rejects := func(user string) {
		t.Helper()
		_, err := f.Claims.Validate(as(t, user), "gone", f.existing(t, "a"))
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `metadata.name: namespace "gone" does not exist but is the parent of `) ||
			!strings.Contains(err.Error(), "update on hierarchies") || strings.Contains(err.Error(), "orphan1") {
			t.Errorf("%s got %v, want Forbidden", user, err)
		}
	}
	f.creator["user/subnamespaces/a"] = true
	rejects("user")
	f.admin["user/orphan1"], f.admin["user/a"], f.admin["user/gone"] = true, true, true
	rejects("user")
	rejects(hnc.PropagatorUser)
	f.Index.forest.SetParent("left", "a")
	f.admin["user/orphan2"] = true
	guard, err := f.Claims.Validate(as(t, "user"), "gone", f.existing(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := guard.Unmarked["gone"]; !ok || got != 7 {
		t.Errorf("the mark is compared with %d, %t", got, ok)
	}
	f.admin["operator/"] = true
	if _, err := f.Claims.Validate(as(t, "operator"), "gone", f.existing(t, "a")); err != nil {
		t.Errorf("an admin of all namespaces got %v", err)
	}
	// The propagator creates required children, and may not adopt orphans.
	if err := f.Claims.ValidateRequired(as(t, "user"), map[int]string{0: "gone"}, f.existing(t, "a")); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "create the Subnamespace first") {
		t.Errorf("requiring got %v, want Forbidden", err)
	}
}

func TestAdoptionNeedsThePermissionUnderEitherName(t *testing.T) {
	for _, resource := range hnc.AdminResources {
		f := newFixture(t, map[string]string{"a": "", "orphan": "gone"})
		f.resource, f.admin["user/orphan"] = resource.Resource, true
		if _, err := f.Claims.Validate(as(t, "user"), "gone", f.existing(t, "a")); err != nil {
			t.Errorf("%s: %v", resource, err)
		}
	}
}

// A claim that is rejected costs few reads, whatever the number of orphans.
func TestFewOrphansAreReadForAClaimThatIsRejected(t *testing.T) {
	const orphans = 2 * maxOrphans
	for name, row := range map[string]struct {
		user, parent string
		required     bool
		most         int
	}{
		"nobody's":                {"user", "a", false, 1},
		"required":                {"user", "a", true, 1},
		"where nothing is copied": {"operator", "waits", false, 0},
		"too many":                {"jane", "a", false, maxOrphans + 1},
	} {
		t.Run(name, func(t *testing.T) {
			parents := map[string]string{"a": "", "waits": "nowhere"}
			for i := range orphans {
				parents[fmt.Sprintf("orphan-%d", i)] = "gone"
			}
			f := newFixture(t, parents)
			f.admin["operator/"], f.creator["user/subnamespaces/a"] = true, true
			for i := range orphans {
				f.admin[fmt.Sprintf("jane/orphan-%d", i)] = true
			}
			claim := func() (err error) {
				if row.required {
					return f.Claims.ValidateRequired(WithFreshReads(as(t, row.user)), map[int]string{0: "gone"}, f.existing(t, row.parent))
				}
				_, err = f.Claims.Validate(WithFreshReads(as(t, row.user)), "gone", f.existing(t, row.parent))
				return err
			}
			if err := claim(); !apierrors.IsForbidden(err) {
				t.Fatalf("got %v, want Forbidden", err)
			}
			read := map[string]bool{}
			for _, action := range f.client.Actions() {
				if get, ok := action.(clienttesting.GetAction); ok && strings.HasPrefix(get.GetName(), "orphan-") {
					read[get.GetName()] = true
				}
			}
			if len(read) > row.most {
				t.Errorf("%d orphans were read", len(read))
			}
		})
	}
}

// A replica whose index does not contain an orphan claims its parent's name only if no namespace has ever named it.
func TestClaimComparesTheMarkOfItsName(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "b": ""})
	guard, err := f.Claims.Validate(as(t, "user"), "new", f.existing(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if mark, ok := guard.Unmarked["new"]; !ok || mark != 0 {
		t.Errorf("the mark is compared with %d, %t", mark, ok)
	}
	guard, err = f.Moves.Validate(as(t, hnc.PropagatorUser), f.existing(t, "b"), "new")
	if err != nil || !slices.Equal(guard.Mark, []string{"new"}) {
		t.Errorf("a move sets the marks %v, %v", guard, err)
	}
}

// A parent of that name could take it back because of its annotation.
func TestSubnamespaceWithoutAParentIsAnOrphan(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "sub": "gone"})
	delete(f.stored, "sub")
	delete(f.Index.edges, "sub")
	f.Index.forest.SetParent("sub", "")
	if _, err := f.Claims.Validate(as(t, "user"), "gone", f.existing(t, "a")); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "is the parent of existing namespaces") {
		t.Errorf("got %v, want Forbidden", err)
	}
	f.admin["user/sub"] = true
	if _, err := f.Claims.Validate(as(t, "user"), "gone", f.existing(t, "a")); err != nil {
		t.Errorf("an admin of it got %v", err)
	}
}

// Whoever has permissions in a new sub-namespace would have them without the policy from above.
func TestNoNewSubnamespaceWhereNothingIsPropagated(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "whole": "a", "orphan": "gone", "below": "orphan", "sub-there": "below", "ending": "", "waits": "ending", "further": "waits", "odd": "kube-system"})
	ending := f.existing(t, "ending").DeepCopy()
	ending.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	if err := f.indexer.Update(ending); err != nil {
		t.Fatal(err)
	}
	if err := f.client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("namespaces"), ending, ""); err != nil {
		t.Fatal(err)
	}
	for parent, want := range map[string]string{
		"a": "", "whole": "",
		"orphan": `the parent of namespace "orphan"`, "below": `the parent of namespace "orphan"`, "further": `the parent of namespace "waits"`, "odd": `the parent of namespace "odd"`,
	} {
		_, err := f.Claims.Validate(as(t, "user"), "new", f.existing(t, parent))
		if want == "" && err != nil || want != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "metadata.namespace: ") || !strings.Contains(err.Error(), want)) {
			t.Errorf("below %s: got %v, want %q", parent, err, want)
		}
	}
	// What exists can be kept.
	if _, err := f.Claims.Validate(as(t, "user"), "sub-there", f.existing(t, "below")); err != nil {
		t.Errorf("a sub-namespace that is there: %v", err)
	}
	// What is required waits.
	f.creator["user/subnamespaces/orphan"] = true
	if err := f.Claims.ValidateRequired(as(t, "user"), map[int]string{0: "new"}, f.existing(t, "orphan")); err != nil {
		t.Errorf("a required child: %v", err)
	}
}

// The annotation that names the parent is not consent: everybody allowed to update the namespace may write it.
func TestAnExistingNamespaceJoinsWithTheConsentOfItsAdmin(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "victim": "", "below": "victim"})
	f.change(t, "victim", nil, map[string]string{hnc.AnnotationSubnamespaceOf: "a"}, true)
	f.creator["user/subnamespaces/a"], f.admin["user/below"] = true, true
	rejects := func(user string) {
		t.Helper()
		_, err := f.Claims.Validate(as(t, user), "victim", f.existing(t, "a"))
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `metadata.name: namespace "victim" exists and is in no tree`) || !strings.Contains(err.Error(), "update on hierarchies") {
			t.Errorf("%s got %v, want Forbidden", user, err)
		}
	}
	required := func() error {
		return f.Claims.ValidateRequired(as(t, "user"), map[int]string{0: "victim"}, f.existing(t, "a"))
	}
	rejects("user")
	rejects(hnc.PropagatorUser)
	f.admin["user/victim"] = true
	if _, err := f.Claims.Validate(as(t, "user"), "victim", f.existing(t, "a")); !apierrors.IsForbidden(err) ||
		!strings.Contains(err.Error(), `may not modify the subtree of namespace "a", which is the new parent`) {
		t.Errorf("an editor of the parent got %v, want Forbidden", err)
	}
	f.admin["user/a"] = true
	if err := required(); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "create the Subnamespace first") {
		t.Errorf("requiring got %v, want Forbidden", err)
	}
	f.config().Sources, f.lists = &conflicting{names: []string{"secret"}}, map[string]bool{"victim": true}
	if _, err := f.Claims.Validate(as(t, "user"), "victim", f.existing(t, "a")); !apierrors.IsConflict(err) ||
		!strings.Contains(err.Error(), `metadata.name: what comes from "a"`) || !strings.Contains(err.Error(), `Namespace "victim": secret`) {
		t.Errorf("objects that would be overwritten: got %v, want a Conflict", err)
	}
	f.config().Sources = nil
	if _, err := f.Claims.Validate(as(t, "user"), "victim", f.existing(t, "a")); err != nil {
		t.Errorf("its admin got %v", err)
	}
	// After a loss of the hierarchies, the propagator repeats what the tree labels say.
	f.change(t, "victim", map[string]string{hnc.TreeLabel("a"): "1"}, map[string]string{hnc.AnnotationSubnamespaceOf: "a"}, true)
	if _, err := f.Claims.Validate(as(t, hnc.PropagatorUser), "victim", f.existing(t, "a")); err != nil {
		t.Errorf("the propagator got %v", err)
	}
	f.stored.put(t, "victim", edgeValue{Parent: "a", Hierarchy: uid("victim")})
	f.sync(t)
	if _, err := f.Claims.Validate(as(t, "nobody"), "victim", f.existing(t, "a")); err != nil {
		t.Errorf("a namespace that is a child already: %v", err)
	}
	if err := required(); err != nil {
		t.Errorf("requiring a child got %v", err)
	}
}

// Adopting orphans is a move of each of them: what comes from above must not loosen Pod Security, or overwrite objects.
func TestClaimOfOrphansIsValidatedAsAMove(t *testing.T) {
	const enforce = "pod-security.kubernetes.io/enforce"
	newOrphan := func() *fixture {
		f := newFixture(t, map[string]string{"a": "", "orphan": "gone"})
		f.admin["user/orphan"], f.admin["user/a"] = true, true
		return f
	}
	f := newOrphan()
	rules, errs := managedkeys.NewRules(&v1beta1.Rules{ManagedNamespaceLabels: []string{`pod-security\.kubernetes\.io/.*`}}, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	f.config().Rules = func() managedkeys.Rules { return rules }
	f.Authorizer.SetHierarchies(hierarchies(map[string]hnc.HierarchySpec{"a": {Labels: []hnc.MetaKVP{{Key: enforce, Value: "privileged"}}}}))
	if _, err := f.Claims.Validate(as(t, "user"), "gone", f.existing(t, "a")); !apierrors.IsForbidden(err) ||
		!strings.Contains(err.Error(), `metadata.name: user "user" may not change the Pod Security labels of namespace "orphan"`) {
		t.Errorf("Pod Security: got %v, want Forbidden", err)
	}

	f = newOrphan()
	f.config().Sources = &conflicting{names: []string{"settings"}}
	if _, err := f.Claims.Validate(as(t, "user"), "gone", f.existing(t, "a")); !apierrors.IsConflict(err) ||
		!strings.Contains(err.Error(), `metadata.name: what comes from "gone" and its ancestors would overwrite objects`) {
		t.Errorf("overwritten objects: got %v, want Conflict", err)
	}
	f.config().Sources = &conflicting{}
	if _, err := f.Claims.Validate(as(t, "user"), "gone", f.existing(t, "a")); err != nil {
		t.Error(err)
	}
}
