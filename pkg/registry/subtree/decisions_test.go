package subtree

import (
	"context"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

func TestDecisionsOfRBACHoldUntilItChanges(t *testing.T) {
	now, start := time.Unix(1000, 0), time.Unix(1000, 0)
	changed, known := time.Time{}, true
	d := newDecisions(func(string) (time.Time, bool) { return changed, known }, 10*time.Second)
	d.now = func() time.Time { return now }
	const rbac, other = `RBAC: allowed by RoleBinding "a/b" of Role "c" to User "ann"`, "allowed by the webhook"
	for _, step := range []struct {
		what       string
		after      time.Duration
		act        func()
		holds, due bool
	}{
		{"before any review", 0, func() {}, false, true},
		{"allowed by RBAC", 0, func() { d.record("a", d.asking(), authorizer.DecisionAllow, rbac) }, true, false},
		{"nine minutes later", 9 * time.Minute, func() {}, true, false},
		{"at its age", 10 * time.Minute, func() {}, false, true},
		{"reviewed again", 10 * time.Minute, func() { d.record("a", d.asking(), authorizer.DecisionAllow, rbac) }, true, false},
		{"when a binding has changed", 11 * time.Minute, func() { changed = now }, false, true},
		{"reviewed at once, perhaps by a cached decision", 11*time.Minute + time.Second, func() { d.record("a", d.asking(), authorizer.DecisionAllow, rbac) }, false, true},
		{"reviewed when the change is in force", 11*time.Minute + 16*time.Second, func() { d.record("a", d.asking(), authorizer.DecisionAllow, rbac) }, true, false},
		{"when changes are not known", 12 * time.Minute, func() { known = false }, false, false},
		{"a while later", 13 * time.Minute, func() {}, false, true},
		{"when they are known again", 13 * time.Minute, func() { known = true }, true, false},
		{"allowed by another authorizer", 14 * time.Minute, func() { d.record("a", d.asking(), authorizer.DecisionAllow, other) }, false, false},
		{"a minute after that", 15 * time.Minute, func() {}, false, true},
		{"denied", 15 * time.Minute, func() { d.record("a", d.asking(), authorizer.DecisionNoOpinion, "") }, false, false},
		{"denied, and a binding has changed", 15*time.Minute + time.Second, func() { changed = now }, false, true},
		{"asked before a binding changed", 19 * time.Minute, func() {
			d.record("a", now.Add(-20*time.Second), authorizer.DecisionAllow, rbac)
			changed = now.Add(-10 * time.Second)
		}, false, true},
		{"forgotten", 20 * time.Minute, func() { d.record("a", d.asking(), authorizer.DecisionAllow, rbac); d.forget("a") }, false, true},
	} {
		now = start.Add(step.after)
		step.act()
		if holds, due := d.holds("a"), d.due("a"); holds != step.holds || due != step.due {
			t.Errorf("%s: it holds %t, is due %t; want %t, %t", step.what, holds, due, step.holds, step.due)
		}
	}
}

// Callers whom another authorizer allows in the whole cluster are reviewed for that once more, not for each namespace.
func TestADecisionForTheClusterIsOneForEachNamespace(t *testing.T) {
	reviews := 0
	d := newDecisions(func(string) (time.Time, bool) { return time.Time{}, false }, time.Second)
	p := permissions{attributes: authorizer.AttributesRecord{User: &user.DefaultInfo{Name: "ann"}}, decisions: d,
		authorizer: authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			reviews++
			return authorizer.DecisionAllow, "allowed by the webhook", nil
		})}
	if allowed, err := p.allowedIn(t.Context(), ""); !allowed || err != nil {
		t.Fatal(allowed, err)
	}
	if allowed, _, err := p.partition(t.Context(), []string{"a", "b", "c"}); len(allowed) != 3 || err != nil || reviews != 2 {
		t.Errorf("%v, %v after %d reviews", allowed, err, reviews)
	}
}
