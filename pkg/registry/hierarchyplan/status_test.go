package hierarchyplan

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/plan"
)

func TestPositionRoundTrip(t *testing.T) {
	at := position{Namespace: "team-a", Write: 7, Access: 3}
	if got, err := parsePosition(at.String()); err != nil || got != at {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"x", "e30", position{}.String(), position{Namespace: "a", Write: -1}.String(), position{Namespace: "a", Access: -1}.String()} {
		if _, err := parsePosition(bad); err == nil {
			t.Errorf("%q is accepted as a position", bad)
		}
	}
}

func TestDryRunSummaryIsShort(t *testing.T) {
	var objects []hnc.PlannedObject
	for range 10 {
		objects = append(objects, hnc.PlannedObject{Action: hnc.ActionAdd, Resource: "configmaps", Name: "a", Source: "root"})
	}
	lines := summaryLines(hnc.HierarchyPlanStatus{Summary: hnc.PlanSummary{Namespaces: 1, Added: 10}, Namespaces: []hnc.NamespacePlan{{Name: "x", Objects: objects}}})
	if len(lines) != maxWarnings+2 || !strings.Contains(lines[len(lines)-1], "and more") {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	quotas := []hnc.PlannedQuota{{Name: "q", Resource: "configmaps", Hard: 2, Planned: 12}}
	lines = summaryLines(hnc.HierarchyPlanStatus{Namespaces: []hnc.NamespacePlan{{Name: "x", Objects: objects, Quotas: quotas}}})
	if want := `namespace "x": ResourceQuota "q" allows 2 of configmaps, and there would be 12`; lines[0] != want {
		t.Errorf("got %q, want %q first", lines, want)
	}
	if lines := summaryLines(hnc.HierarchyPlanStatus{}); len(lines) > 0 {
		t.Errorf("without effects: got warnings %q", lines)
	}
}

func TestLongDiffIsTruncated(t *testing.T) {
	long := `{"data":{"a":"` + strings.Repeat("x", 2*maxDiffBytes) + `"}}`
	if text := unifiedDiff([]byte(long), []byte(`{}`), false); len(text) > maxDiffBytes+20 || !strings.HasSuffix(text, "(and more)\n") {
		t.Errorf("%d bytes", len(text))
	}
	const applied = `{"kind":"Secret","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"xyzzy"}},"data":{"a":"eA=="}}`
	if text := unifiedDiff([]byte(applied), []byte(`{"kind":"Secret","data":{"b":"eA=="}}`), true); strings.Contains(text, "xyzzy") || strings.Contains(text, "eA==") {
		t.Errorf("the diff contains the content of a Secret:\n%s", text)
	}
}

// Each line of YAML repeats the indentation of all levels around it.
func TestDeepObjectsAreNotWrittenToBeCompared(t *testing.T) {
	const levels = 3000
	deep := []byte(strings.Repeat(`{"a":`, levels) + "[0" + strings.Repeat(",0", 10_000) + "]" + strings.Repeat("}", levels))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text := unifiedDiff(deep, []byte(`{}`), false)
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; text != tooLong || bytes > 32<<20 {
		t.Errorf("got %q, of %d bytes", text, bytes)
	}
}

func TestObjectsThatAreLargerThanAPageAreNotCompared(t *testing.T) {
	ctx := genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "ann"})
	p := New(Config{Authorizer: objectsOnly, Lister: listOf(t, nil, pageBytes)})
	o := &copies.Object{Namespace: "n-0", Name: "a"}
	if text := p.diff(ctx, p.visibility(&prediction{}), copies.Write{Kind: configMaps, Verb: copies.Update, Present: o, Source: o}); text != tooLong {
		t.Errorf("got %q", text)
	}
}

func TestLargeIntegersDiffer(t *testing.T) {
	text := unifiedDiff([]byte(`{"spec":{"a":9007199254740992}}`), []byte(`{"spec":{"a":9007199254740993}}`), false)
	if !strings.Contains(text, "-  a: 9007199254740992\n+  a: 9007199254740993\n") {
		t.Errorf("got %q", text)
	}
}

// A plan says why a change is refused, and not that a server is busy.
func TestBusyServersRefuseNoChange(t *testing.T) {
	forbidden, busy := apierrors.NewForbidden(schema.GroupResource{}, "", nil), apierrors.NewTooManyRequests("busy", 1)
	if err := delayed([]error{forbidden}); err != nil {
		t.Errorf("got %v", err)
	}
	if err := delayed([]error{forbidden, busy}); !apierrors.IsTooManyRequests(err) {
		t.Errorf("got %v", err)
	}
}

// creations returns the effect of that many creations in a namespace.
func creations(namespace string, n int) plan.Effect {
	e := plan.Effect{Namespace: namespace, Writes: make([]copies.Write, n)}
	for i := range e.Writes {
		e.Writes[i] = copies.Write{Kind: configMaps, Verb: copies.Create, Namespace: namespace, Name: fmt.Sprint(i), Source: &copies.Object{Namespace: "above"}}
	}
	return e
}

// objectsOnly allows everything but what quotas need.
var objectsOnly = authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.GetResource() == "resourcequotas" {
		return authorizer.DecisionDeny, "", nil
	}
	return authorizer.DecisionAllow, "", nil
})

// Each of many namespaces inherits as many objects as a plan may have.
func TestLargeEffectsAreFilteredOneAfterAnother(t *testing.T) {
	var reviewed sync.Map
	p := New(Config{Authorizer: authorizer.AuthorizerFunc(func(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if reviewed.Store(a.GetNamespace(), true); a.GetNamespace() == "" {
			return authorizer.DecisionDeny, "", nil
		}
		return objectsOnly(ctx, a)
	})})
	ctx := genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "ann"})
	for _, row := range []struct{ namespaces, writes, atATime int }{{2, 130_000, 1}, {8, 20_000, 1}, {8, 10_000, 2}, {2 * effectBatch, 1, effectBatch}} {
		reviewed.Clear()
		pr := &prediction{namespace: "namespace-0", snapshot: &snapshot{}, effects: func(yield func(plan.Effect) bool) {
			for i := range row.namespaces {
				if before := fmt.Sprint("namespace-", i-row.atATime); i >= row.atATime {
					if _, ok := reviewed.Load(before); !ok {
						t.Fatalf("%d writes in %s are kept until those in namespace %d are there", row.writes, before, i)
					}
				}
				if !yield(creations(fmt.Sprint("namespace-", i), row.writes)) {
					return
				}
			}
		}}
		status, err := p.status(ctx, pr, position{}, 1)
		if err != nil || int(status.Summary.Added) != row.namespaces*row.writes {
			t.Errorf("got %d creations, %v; want %d times %d", status.Summary.Added, err, row.namespaces, row.writes)
		}
	}
}

// There is a permission for each kind in each namespace.
func TestPermissionsOfAPlanAreBounded(t *testing.T) {
	reviews := map[string]int{}
	var mu sync.Mutex
	p := New(Config{Authorizer: authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetVerb() == "list" {
			mu.Lock()
			defer mu.Unlock()
			reviews[a.GetNamespace()]++
		}
		if a.GetNamespace() == "" {
			return authorizer.DecisionDeny, "", nil
		}
		return authorizer.DecisionAllow, "", nil
	})})
	ctx := genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "ann"})
	v := p.visibility(&prediction{snapshot: &snapshot{}})
	for i := range maxPermissions / effectBatch {
		var batch []plan.Effect
		for j := range effectBatch {
			batch = append(batch, creations(fmt.Sprintf("namespace-%d-%d", i, j), 1))
		}
		v.prefetch(ctx, batch)
		for _, e := range batch {
			if shown, _ := v.filter(ctx, e); len(shown.Writes) != 1 || reviews[e.Namespace] != 1 {
				t.Fatalf("%s: %d writes are shown after %d reviews, want 1 of each", e.Namespace, len(shown.Writes), reviews[e.Namespace])
			}
		}
		if len(v.cache) > maxPermissions+3*effectBatch {
			t.Fatalf("%d permissions are remembered", len(v.cache))
		}
	}
}

// Who may write RoleBindings in one namespace must not break the plans of others.
func TestAccessOfVeryManySubjectsIsUnknown(t *testing.T) {
	bindings := copies.NewIndex(copies.RoleBindings)
	for _, o := range []metav1.ObjectMeta{{Namespace: "a", Name: "editors"}, {Namespace: "a", Name: "viewers"}, {Namespace: "b", Name: "editors"}} {
		o.UID = types.UID(o.Namespace + "/" + o.Name)
		bindings.Set(copies.NewSource(&metav1.PartialObjectMetadata{ObjectMeta: o}, copies.RoleBindings, &copies.Rules{}))
	}
	ctx := genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "ann"})
	for name, row := range map[string]struct {
		verb     copies.Verb
		subjects int
		free     int64
		unknown  []string
		access   int
	}{
		"many":                     {copies.Delete, maxSubjects, 0, nil, 1},
		"very many":                {copies.Delete, maxSubjects + 1, 0, []string{"access in a: there are too many subjects"}, 0},
		"beside few objects":       {copies.Delete, maxSubjects + 1, 64 << 20, nil, 1},
		"of objects that are kept": {copies.Keep, maxSubjects + 1, 0, nil, 0},
	} {
		pr := &prediction{namespace: "a", snapshot: &snapshot{
			free: row.free, indexes: []*copies.Index{bindings},
			grants: map[types.UID]grant{"a/editors": binding("edit", "ann"), "b/editors": binding("edit", "ann"), "a/viewers": {subjects: make([]rbacv1.Subject, row.subjects-1)}},
		}, effects: func(yield func(plan.Effect) bool) {
			for _, namespace := range []string{"a", "b"} {
				verb := copies.Delete
				if namespace == "a" {
					verb = row.verb
				}
				if !yield(plan.Effect{Namespace: namespace, Writes: []copies.Write{
					{Kind: copies.RoleBindings, Verb: verb, Namespace: namespace, Name: "editors", Present: bindings.Get(namespace, "editors")},
				}}) {
					return
				}
			}
		}}
		status, err := New(Config{Authorizer: objectsOnly}).status(ctx, pr, position{}, defaultLimit)
		if err != nil || len(status.Namespaces) != 2 || !slices.Equal(status.Unknown, row.unknown) ||
			len(status.Namespaces[0].Access) != row.access || len(status.Namespaces[1].Access) != 1 {
			t.Errorf("%s: got %+v, %v", name, status, err)
		}
	}
}
