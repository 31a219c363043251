package treerules

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// newViewed returns a fixture in which bank has a view with relative names, lab one with real names.
func newViewed(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, map[string]string{
		"bank": "", "payments": "bank", "bank-lab": "bank", "bank-cards": "bank", "lab": "bank-lab",
		"mine": "", "bank-payments": "mine", "cards": "", "default": "", "pair": "", "bank-pair": "pair", "free": "", "sub-free": "bank",
	})
	views := map[string]*mapping.Names{
		"bank": mapping.NewNames(mapping.Config{Root: "bank", Relative: true, Prefix: "bank-"}),
		"lab":  mapping.NewNames(mapping.Config{Root: "lab", Prefix: "lab-"}),
	}
	f.config().Names = func(_ context.Context, namespace string) (*mapping.Names, error) { return views[namespace], nil }
	f.updates = map[string]bool{"owner/bank/view": true}
	return f
}

// Whoever gets a name of a member could get what is written there.
func TestNamesInTheViewsOfAncestorsAreNotTakenTwice(t *testing.T) {
	for _, row := range []struct{ name, child, parent, says string }{
		{"a name without a rival", "bank-settlement", "bank", ""},
		{"a rival that is not in the view", "bank-mine", "bank-lab", ""},
		{"with the prefix", "bank-sub-free", "lab", `namespaces "bank-sub-free" and "sub-free" would have one name in the TenantView of namespace "bank"`},
		{"the prefix twice", "bank-bank-lab", "bank-lab", ""},
		{"without the prefix", "lab2", "bank-lab", ""},
		{"real names", "lab-lab", "lab", ""},
		{"in no view", "bank-free", "mine", ""},
		{"the name of the root", "bank-bank", "bank", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newViewed(t)
			guard, err := f.Claims.Validate(as(t, "user"), row.child, f.existing(t, row.parent))
			if row.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				if row.child == "bank-settlement" {
					if revision, compared := guard.Unchanged["settlement"]; !compared || revision != 0 {
						t.Error("the edge of the other name is not compared, so that two claims could both succeed")
					}
				}
				return
			}
			for _, user := range []string{"user", hnc.PropagatorUser} {
				if _, err := f.Claims.Validate(as(t, user), row.child, f.existing(t, row.parent)); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), row.says) ||
					!strings.Contains(err.Error(), `update on tenantviews.hnc.x-k8s.io in namespace "bank"`) {
					t.Errorf("%s: got %v", user, err)
				}
			}
			if _, err := f.Claims.Validate(as(t, "owner"), row.child, f.existing(t, row.parent)); err != nil {
				t.Errorf("a user who may update the TenantView: %v", err)
			}
			f.creator = map[string]bool{"user/subnamespaces/" + row.parent: true}
			if err := f.Claims.ValidateRequired(as(t, "user"), map[int]string{0: row.child}, f.existing(t, row.parent)); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "spec.requiredChildren[0]: "+row.says) {
				t.Errorf("a required child: got %v", err)
			}
		})
	}
}

func TestMovesIntoAViewBringNoNameTwice(t *testing.T) {
	for _, row := range []struct{ name, namespace, parent, says string }{
		{"without a rival", "free", "bank-lab", ""},
		{"its descendant has one", "mine", "bank-lab", `"bank-payments" and "payments"`},
		{"without the prefix", "cards", "bank", `"cards" and "bank-cards"`},
		{"rivals among what moves", "pair", "bank", `"pair" and "bank-pair"`},
		{"the name of the root in its view", "default", "bank", `"default" and "bank"`},
		{"within the view", "payments", "lab", ""},
		{"into no view", "cards", "mine", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newViewed(t)
			for namespace := range map[string]bool{"bank": true, "bank-lab": true, "lab": true, "mine": true, row.namespace: true} {
				f.admin["user/"+namespace], f.admin["owner/"+namespace] = true, true
			}
			guard, err := f.Moves.Validate(as(t, "user"), f.existing(t, row.namespace), row.parent)
			possible, planned := f.Moves.Preview(as(t, "user"), f.existing(t, row.namespace), row.parent)
			if row.says == "" {
				if err != nil || planned != nil {
					t.Errorf("got %v, planned %v", err, planned)
				}
				if rival, ok := map[string]string{"free": "bank-free"}[row.namespace]; ok && err == nil {
					if revision, compared := guard.Unchanged[rival]; !compared || revision != 0 {
						t.Errorf("the edge of %q, which may be claimed at the same time, is not compared: %v", rival, guard.Unchanged)
					}
				}
				return
			}
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), row.says) || possible || !apierrors.IsForbidden(planned) {
				t.Errorf("got %v, planned %v", err, planned)
			}
			for _, user := range []string{"owner", hnc.PropagatorUser} {
				if _, err := f.Moves.Validate(as(t, user), f.existing(t, row.namespace), row.parent); err != nil {
					t.Errorf("%s: %v", user, err)
				}
			}
		})
	}
}

// A replica whose index is late does not reject what has become free.
func TestARivalThatHasLeftIsNone(t *testing.T) {
	f := newViewed(t)
	delete(f.stored, "payments")
	f.admin["user/mine"], f.admin["user/bank-lab"] = true, true
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "mine"), "bank-lab"); err != nil {
		t.Error(err)
	}
}
