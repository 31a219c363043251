package treerules

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	quotav1 "k8s.io/apiserver/pkg/quota/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// fixedQuotas are limits, and the recorded use of each namespace of no scope.
type fixedQuotas struct {
	*limits.Limits
	used map[string]corev1.ResourceList
}

func (q fixedQuotas) Get(context.Context, bool) (*limits.Limits, error) { return q.Limits, nil }

func (q fixedQuotas) Subtrees(_ context.Context, moved, tops []string) (ScopedUse, map[string]ScopedUse, error) {
	sum, sums := ScopedUse{}, map[string]ScopedUse{}
	for _, name := range moved {
		sum[""] = quotav1.Add(sum[""], q.used[name])
	}
	for _, name := range tops {
		sums[name] = ScopedUse{"": q.used[name]}
	}
	return sum, sums, nil
}

func hard(of ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(of); i += 2 {
		list[corev1.ResourceName(of[i])] = resource.MustParse(of[i+1])
	}
	return list
}

func quotaOf(namespace, name string, of ...string) hnc.HierarchicalResourceQuota {
	return hnc.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: hnc.HierarchicalResourceQuotaSpec{Hard: hard(of...)}}
}

// limited makes a fixture have quotas and use.
func (f *fixture) limited(used map[string]corev1.ResourceList, quotas ...hnc.HierarchicalResourceQuota) {
	q := fixedQuotas{limits.New(7, quotas...), used}
	f.config().Quotas, f.config().Use, f.config().Records = q, q, recorded{}
}

func TestAllQuotasThatAMoveWouldExceedAreListed(t *testing.T) {
	f := newFixture(t, map[string]string{"root": "", "mid": "root", "m": "", "sub-1": "m", "sub-2": "sub-1", "sub-3": "mid"})
	f.admin["jane/mid"] = true
	f.limited(map[string]corev1.ResourceList{"m": hard("pods", "2"), "sub-1": hard("pods", "1", "secrets", "4"), "root": hard("pods", "3"), "mid": hard("pods", "1")},
		quotaOf("root", "b", "pods", "5", "secrets", "4"), quotaOf("root", "a", "count/subnamespaces.hnc.x-k8s.io", "2"), quotaOf("root", "fits", "pods", "6"),
		quotaOf("mid", "c", "pods", "3", "secrets", "1"), quotaOf("elsewhere", "d", "pods", "0"))
	exceeded, err := f.Moves.ExceededQuotas(as(t, "jane"), f.existing(t, "m"), "mid")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range exceeded {
		for _, over := range e.Over {
			got = append(got, fmt.Sprintf("%s/%s %s %s+%s>%s", e.Namespace, e.Name, over.Resource, over.Used.String(), over.Requested.String(), over.Limit.String()))
		}
	}
	want := "root/a count/subnamespaces.hnc.x-k8s.io 2+3>2, root/b pods 3+3>5, mid/c pods 1+3>3, mid/c secrets 0+4>1"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}

// exceededByMove returns the resources of quotas that jane exceeds by moving m below to, each followed by a space.
func (f *fixture) exceededByMove(t *testing.T) (resources string, err error) {
	exceeded, err := f.Moves.ExceededQuotas(as(t, "jane"), f.existing(t, "m"), "to")
	for _, e := range exceeded {
		for _, over := range e.Over {
			resources += string(over.Resource) + " "
		}
	}
	return resources, err
}

// Creations below a quota without room are not limited either, and its ledger does not contain the use.
func TestAMoveMayExceedQuotasThatAreNotEnforced(t *testing.T) {
	for scopes, want := range map[int]string{quota.MaxChainScopes: "count/subnamespaces.hnc.x-k8s.io ", quota.MaxChainScopes - 1: "count/subnamespaces.hnc.x-k8s.io pods "} {
		f := newFixture(t, map[string]string{"root": "", "to": "root", "m": ""})
		f.admin["jane/to"] = true
		f.limited(map[string]corev1.ResourceList{"m": hard("pods", "2")},
			append(scoped("root", "above", scopes), quotaOf("to", "q", "pods", "1", "count/subnamespaces.hnc.x-k8s.io", "0"))...)
		if got, err := f.exceededByMove(t); err != nil || got != want {
			t.Errorf("with %d scopes above: got %s, %v; want %s", scopes, got, err, want)
		}
	}
}

// Such limits are not in force for creations either.
func TestAMoveMayExceedLimitsOfPropagatedKinds(t *testing.T) {
	f := newFixture(t, map[string]string{"to": "", "m": ""})
	f.admin["jane/to"] = true
	f.limited(map[string]corev1.ResourceList{"m": hard("secrets", "4", "limits.cpu", "2")}, quotaOf("to", "q", "secrets", "1", "limits.cpu", "1"))
	for mode, want := range map[v1beta1.SynchronizationMode]string{v1beta1.Ignore: "limits.cpu secrets ", v1beta1.AllowPropagate: "limits.cpu "} {
		f.config().Sources = &conflicting{mode: mode}
		if got, err := f.exceededByMove(t); err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", mode, got, err, want)
		}
	}
}

// A tenant could otherwise hide reservations from a move behind many quotas of their own.
func TestMoveThatWouldCompareTooMuchIsRejected(t *testing.T) {
	parents := map[string]string{"to": "", "m": ""}
	quotas := []hnc.HierarchicalResourceQuota{quotaOf("to", "q", "pods", "1")}
	for i := range maxLedgers + 1 {
		name := fmt.Sprintf("below-%d", i)
		parents[name] = "m"
		quotas = append(quotas, quotaOf(name, "q", "pods", "1"))
	}
	f := newFixture(t, parents)
	f.admin["jane/to"] = true
	f.limited(nil, quotas...)
	_, err := f.Moves.ExceededQuotas(as(t, "jane"), f.existing(t, "m"), "to")
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `create a quota in "m"`) {
		t.Errorf("got %v", err)
	}
	f.limited(nil, append(quotas, quotaOf("m", "q", "pods", "1"))...)
	if _, err := f.Moves.ExceededQuotas(as(t, "jane"), f.existing(t, "m"), "to"); err != nil {
		t.Errorf("with a quota for all of them: %v", err)
	}
}

// The limit of a propagated kind is not in force.
func TestNoMoveIsForbiddenByALimitBeforeTheModesAreKnown(t *testing.T) {
	f := newFixture(t, map[string]string{"to": "", "m": ""})
	f.admin["jane/to"], f.admin["jane/m"] = true, true
	f.limited(map[string]corev1.ResourceList{"m": hard("secrets", "2")}, quotaOf("to", "a", "secrets", "1"))
	for _, row := range []struct {
		sources conflicting
		is      func(error) bool
	}{
		{conflicting{unread: true}, apierrors.IsServiceUnavailable},
		{conflicting{}, apierrors.IsForbidden},
		{conflicting{mode: v1beta1.Propagate}, func(err error) bool { return err == nil }},
	} {
		f.config().Sources = &row.sources
		if _, err := f.Moves.Validate(as(t, "jane"), f.existing(t, "m"), "to"); !row.is(err) {
			t.Errorf("modes known: %t, %q: got %v", !row.sources.unread, row.sources.mode, err)
		}
	}
}

func TestForcedMoveIsLostIfTheUseChanges(t *testing.T) {
	f := newFixture(t, map[string]string{"to": "", "m": ""})
	f.admin["jane/to"], f.admin["jane/m"] = true, true
	f.limited(map[string]corev1.ResourceList{"m": hard("pods", "2")}, quotaOf("to", "a", "pods", "1"), quotaOf("to", "b", "pods", "1"))
	f.updates = map[string]bool{"jane/to/a": true}
	ctx := WithExceedingQuotas(as(t, "jane"))
	if _, err := f.Moves.Validate(ctx, f.existing(t, "m"), "to"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"to": "b", requested: pods=2`) {
		t.Errorf("got %v, want that the quota b is exceeded", err)
	}
	f.updates["jane/to/b"] = true
	if _, err := f.Moves.Validate(as(t, "jane"), f.existing(t, "m"), "to"); !apierrors.IsForbidden(err) {
		t.Errorf("without the annotation: %v", err)
	}
	guard, err := f.Moves.Validate(ctx, f.existing(t, "m"), "to")
	if err != nil {
		t.Fatal(err)
	}
	// The move is lost if a limit or the use changes, and invalidates decisions that are based on the use.
	if guard.UnchangedRecords[limits.Record] != 7 || guard.UnchangedRecords[limits.Ledger("to")] == 0 || guard.PutRecords[limits.Ledger("to")] == nil {
		t.Errorf("got %+v", guard)
	}
}

func TestSubnamespaceIsRejectedAtTheLimitOfAnyAncestor(t *testing.T) {
	f := newFixture(t, map[string]string{"top": "", "mid": "top", "sub-1": "mid", "sub-2": "top"})
	f.limited(nil, quotaOf("top", "q", "count/subnamespaces.hnc.x-k8s.io", "4"), quotaOf("mid", "q", "count/subnamespaces.hnc.x-k8s.io", "1"))
	for parent, want := range map[string]string{
		"mid":   `namespace "mid": "q", requested: count/subnamespaces.hnc.x-k8s.io=1, used: count/subnamespaces.hnc.x-k8s.io=1, limited: count/subnamespaces.hnc.x-k8s.io=1`,
		"sub-1": `namespace "mid"`, "top": "", "sub-2": "",
	} {
		guard := &fence.Guard{}
		s := newSnapshot(f.Index, false)
		err := s.limitSubnamespaces(t.Context(), guard, newRejection(t.Context(), "new"), parent, "new")
		if want == "" {
			if err != nil || guard.UnchangedRecords[limits.Children("top")] == 0 {
				t.Errorf("below %s: %v, compared %v", parent, err, guard.UnchangedRecords)
			}
		} else if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("below %s: got %v, want %s", parent, err, want)
		}
	}
}

// Removing the Subnamespace of a sub-namespace that stays makes no room for another one; creating it again takes none.
func TestSubnamespaceThatLostItsRecordCounts(t *testing.T) {
	f := newFixture(t, map[string]string{"top": "", "sub": "top", "full": ""})
	f.stored.put(t, "sub", edgeValue{Parent: "top", Hierarchy: uid("sub")})
	f.sync(t)
	f.limited(map[string]corev1.ResourceList{"sub": hard("pods", "6")}, quotaOf("top", "q", "count/subnamespaces.hnc.x-k8s.io", "1"), quotaOf("top", "r", "pods", "10"))
	if _, err := f.Claims.Validate(as(t, "user"), "new", f.existing(t, "top")); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "used: count/subnamespaces.hnc.x-k8s.io=1") {
		t.Errorf("another one: got %v", err)
	}
	if _, err := f.Claims.Validate(as(t, "user"), "sub", f.existing(t, "top")); err != nil {
		t.Errorf("the same again: got %v", err)
	}
	// A full namespace counts as well, so it takes nothing to make it a sub-namespace.
	f.stored.put(t, "full", edgeValue{Parent: "top", Hierarchy: uid("full")})
	f.sync(t)
	f.change(t, "full", nil, map[string]string{hnc.AnnotationSubnamespaceOf: "top"}, true)
	if _, err := f.Claims.Validate(as(t, "user"), "full", f.existing(t, "top")); err != nil {
		t.Errorf("a full namespace: got %v", err)
	}
}

// Whoever may update sub-namespaces could otherwise make room for more by converting them.
func TestNamespacesCountWhateverPutThemBelow(t *testing.T) {
	f := newFixture(t, map[string]string{"top": "", "sub": "top", "full": "sub", "joins": "", "sub-joins": "joins"})
	f.admin["user/top"] = true
	limited := func(limit string) { f.limited(nil, quotaOf("top", "q", "count/subnamespaces.hnc.x-k8s.io", limit)) }
	f.stored.put(t, "sub", edgeValue{Parent: "top", Hierarchy: uid("sub")})
	f.sync(t)
	f.change(t, "sub", nil, nil, true)
	limited("2")
	if _, err := f.Claims.Validate(as(t, "user"), "new", f.existing(t, "top")); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "used: count/subnamespaces.hnc.x-k8s.io=2") {
		t.Errorf("a new one beside a converted one: got %v", err)
	}
	limited("3")
	if _, err := f.Claims.Validate(as(t, "user"), "new", f.existing(t, "top")); err != nil {
		t.Errorf("one that fits: %v", err)
	}
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "joins"), "top"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "requested: count/subnamespaces.hnc.x-k8s.io=2") {
		t.Errorf("a move of two: got %v", err)
	}
	limited("4")
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "joins"), "top"); err != nil {
		t.Errorf("a move that fits: %v", err)
	}
}

// growing returns quotas only from the second call on, as if one was created during an evaluation.
type growing struct {
	fixedQuotas
	calls *int
}

func (q growing) Get(context.Context, bool) (*limits.Limits, error) {
	if *q.calls++; *q.calls == 1 {
		return limits.New(7), nil
	}
	return limits.New(8, quotaOf("top", "q", "pods", "0")), nil
}

// joins has a namespace join a tree immediately before the record of that is read.
type joins struct {
	recorded
	join func()
}

func (r joins) Read(ctx context.Context, names ...string) ([]fence.Entry, error) {
	if slices.Contains(names, limits.Tree("m")) {
		r.join()
	}
	return r.recorded.Read(ctx, names...)
}

// The record is as the join has left it, so the commit would not notice.
func TestAMoveCountsWhatHasJoinedBeforeItsRecordIsRead(t *testing.T) {
	f := newFixture(t, map[string]string{"to": "", "m": "", "x": ""})
	f.admin["jane/to"], f.admin["jane/m"] = true, true
	f.limited(map[string]corev1.ResourceList{"x": hard("pods", "3")}, quotaOf("to", "q", "pods", "2"))
	f.config().Records = joins{recorded{}, func() {
		f.stored.put(t, "x", edgeValue{Parent: "m", Hierarchy: uid("x")})
		f.sync(t)
	}}
	if _, err := f.Moves.Validate(as(t, "jane"), f.existing(t, "m"), "to"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "requested: pods=3") {
		t.Errorf("got %v", err)
	}
}

func TestAMoveIsLostIfANamespaceJoinsWhatMoves(t *testing.T) {
	f := newFixture(t, map[string]string{"top": "", "m": "", "below-m": "m", "full": ""})
	f.admin["jane/top"], f.admin["jane/m"], f.admin["jane/below-m"], f.admin["jane/full"] = true, true, true, true
	f.limited(nil, quotaOf("top", "q", "count/subnamespaces.hnc.x-k8s.io", "5"))
	move, err := f.Moves.Validate(as(t, "jane"), f.existing(t, "m"), "top")
	if err != nil {
		t.Fatal(err)
	}
	if move.UnchangedRecords[limits.Tree("m")] == 0 {
		t.Errorf("the move compares %v", move.UnchangedRecords)
	}
	claim, err := f.Claims.Validate(as(t, "jane"), "new", f.existing(t, "below-m"))
	if err != nil {
		t.Fatal(err)
	}
	into, err := f.Moves.Validate(as(t, "jane"), f.existing(t, "full"), "below-m")
	if err != nil {
		t.Fatal(err)
	}
	for what, guard := range map[string]*fence.Guard{"a claim": claim, "a move": into} {
		if _, written := guard.PutRecords[limits.Tree("m")]; !written {
			t.Errorf("%s below m writes %v", what, guard.PutRecords)
		}
	}
}

// What is compared is what the decision has read.
func TestAMoveIsLostIfALimitIsSetMeanwhile(t *testing.T) {
	f := newFixture(t, map[string]string{"top": "", "m": ""})
	f.admin["jane/top"], f.admin["jane/m"] = true, true
	f.limited(map[string]corev1.ResourceList{"m": hard("pods", "2")})
	f.config().Quotas = growing{calls: new(int)}
	guard, err := f.Moves.Validate(as(t, "jane"), f.existing(t, "m"), "top")
	if err != nil {
		t.Fatal(err)
	}
	if got := guard.UnchangedRecords[limits.Record]; got != 7 {
		t.Errorf("it compares the limits at revision %d, and was decided at 7", got)
	}
}
