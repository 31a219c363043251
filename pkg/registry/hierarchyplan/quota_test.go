package hierarchyplan

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	restclient "k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/plan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// addTwo returns a page of a plan that adds two ConfigMaps to each of the namespaces "a" and "b", which have quotas with
// the given fields of status, in JSON.
func addTwo(t *testing.T, limit int, a authorizer.Authorizer, quotas ...string) hnc.HierarchyPlanStatus {
	t.Helper()
	lister, err := NewObjectLister(&restclient.Config{Host: "http://cluster", QPS: -1, Transport: respond(func(*http.Request) string {
		var items []string
		for i, status := range quotas {
			items = append(items, fmt.Sprintf(`{"metadata":{"name":"q-%d"},"status":{%s}}`, i, status))
		}
		return fmt.Sprintf(`{"kind":"ResourceQuotaList","apiVersion":"v1","metadata":{"remainingItemCount":%d},"items":[%s]}`,
			max(0, len(items)-pageObjects), strings.Join(items, ","))
	})})
	if err != nil {
		t.Fatal(err)
	}
	planner := New(Config{Authorizer: a, Lister: lister})
	p := &page{Planner: planner, visibility: planner.visibility(&prediction{snapshot: &snapshot{}}), status: &hnc.HierarchyPlanStatus{}, started: true, limit: limit}
	for _, name := range []string{"a", "b"} {
		p.add(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "ann"}), plan.Effect{Namespace: name, Writes: creations(name, 2).Writes})
	}
	return *p.status
}

func TestPlannedQuotas(t *testing.T) {
	everything := authorizerfactory.NewAlwaysAllowAuthorizer()
	quotas := []string{
		`"hard":{"count/configmaps":"2","configmaps":"3"},"used":{"count/configmaps":"1","configmaps":"1"}`,
		`"hard":{"configmaps":"5"},"used":{"configmaps":"10E"}`,
		`"hard":{"secrets":"0","requests.cpu":"0"}`,
	}
	status := addTwo(t, defaultLimit, everything, quotas...)
	want := []hnc.PlannedQuota{{Name: "q-0", Resource: "count/configmaps", Hard: 2, Planned: 3}, {Name: "q-1", Resource: "configmaps", Hard: 5, Planned: hnc.MaxQuantity}}
	if got := status.Namespaces[1].Quotas; !slices.Equal(got, want) || len(status.Unknown) > 0 {
		t.Errorf("got %v, unknown %q", got, status.Unknown)
	}
	if status := addTwo(t, defaultLimit, objectsOnly, quotas...); len(status.Namespaces[1].Quotas) > 0 {
		t.Errorf("without permission: got %v", status.Namespaces[1].Quotas)
	}
	// A namespace may have any number of quotas, of any size.
	many := slices.Repeat(quotas[:1], 10)
	if status := addTwo(t, 5, everything, many...); len(status.Namespaces) != 1 || status.Continue == "" {
		t.Errorf("a page of 5 has %d namespaces with 10 quotas each", len(status.Namespaces))
	}
	for n, want := range map[int]struct {
		rows    int
		unknown string
	}{
		maxExceededQuotas/2 + 1:             {maxExceededQuotas, "quotas in a: more than 1000 resources of quotas are exceeded"},
		maxExceededQuotas + pageObjects + 1: {0, "quotas in a: there are too many objects"},
	} {
		two := `"hard":{"count/configmaps":"1","configmaps":"1"}`
		if status := addTwo(t, maxLimit, everything, slices.Repeat([]string{two}, n)...); len(status.Namespaces[0].Quotas) != want.rows ||
			len(status.Unknown) == 0 || status.Unknown[0] != want.unknown {
			t.Errorf("%d quotas: %d rows, unknown %q", n, len(status.Namespaces[0].Quotas), status.Unknown)
		}
	}
	large := `"hard":{` + strings.Repeat(`"a":"1",`, yamlbody.MaxValues) + `"a":"1"}`
	if status := addTwo(t, defaultLimit, everything, large); len(status.Unknown) != 2 || !strings.HasPrefix(status.Unknown[0], "quotas in a: one of the objects: ") {
		t.Errorf("a large quota: unknown %q", status.Unknown)
	}
}
