package tenantview

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// state returns what is known of namespaces with these TenantViews.
func state(lines []string, views ...string) *cache.State {
	s := &cache.State{Tree: treetest.New(lines...), ViewsListed: true, Views: map[string]*v1alpha3.TenantView{}}
	for _, namespace := range views {
		s.Views[namespace] = &v1alpha3.TenantView{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: hnc.TenantViewSingleton}}
	}
	return s
}

var nested = []string{"ns acme", "ns acme-a", "parent acme-a acme", "ns acme-a-b", "parent acme-a-b acme-a", "ns other"}

// A finalizer or a deletion in the foreground keeps a TenantView without its grant.
func TestAViewThatIsBeingDeletedGrantsNothing(t *testing.T) {
	s := state(nested, "acme", "acme-a")
	if !grants(s, "acme") || grants(s, "other") || !inherits(s, "acme-a") || !inherits(s, "acme-a-b") || inherits(s, "acme") {
		t.Error("the grant is not that of the topmost view")
	}
	now := metav1.Now()
	s.Views["acme"].DeletionTimestamp = &now
	if grants(s, "acme") || inherits(s, "acme-a") || !inherits(s, "acme-a-b") {
		t.Error("the view below does not have its own grant while the one above is being deleted")
	}
}

func TestAChangedViewConcernsThoseBelowIt(t *testing.T) {
	q := queue.New(nil, nil)
	defer q.ShutDown()
	c := New(controller.Dependencies{Queue: q}, time.Second)
	c.Handlers().ViewChanged(state(nested, "acme-a-b", "other"), "acme")
	var got []string
	for q.Len() > 0 {
		key, _ := q.Get()
		got = append(got, key.Namespace)
		q.Done(key)
	}
	slices.Sort(got)
	if want := []string{"acme", "acme-a-b"}; !slices.Equal(got, want) {
		t.Errorf("enqueued %v, want %v", got, want)
	}
}

// Which of two is not shown is what the view itself decides.
func TestTheStatusNamesTheLaterOfTwoNamespaces(t *testing.T) {
	lines := []string{"ns acme", "ns x older", "parent x acme", "ns acme-x younger", "parent acme-x acme", "ns y younger", "parent y acme", "ns acme-y older", "parent acme-y acme"}
	s := state(lines, "acme")
	status := statusOf(s, s.Views["acme"], true, "", treetest.Now)
	if want := []string{"acme-x", "y"}; !slices.Equal(status.Shadowed, want) || status.Members != 5 {
		t.Errorf("%d members, %v are shadowed, want %v", status.Members, status.Shadowed, want)
	}
}
