package subtree

import (
	"context"
	"net/http/httptest"
	"net/url"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
)

// fixedTree has one subtree. While held is not nil, it is fresh when held is closed.
type fixedTree struct {
	names []string
	held  chan struct{}
	// waiting receives an element for each request that waits.
	waiting chan struct{}
}

func (f *fixedTree) WaitUntilFresh(context.Context) error {
	if f.held != nil {
		f.waiting <- struct{}{}
		<-f.held
	}
	return nil
}

func (f *fixedTree) Members(context.Context, string) ([]string, error) { return f.names, nil }
func (f *fixedTree) Changed() <-chan struct{}                          { return nil }

// everythingAllowed authorizes all requests.
type everythingAllowed struct{ authorizer.Authorizer }

func (everythingAllowed) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionAllow, "", nil
}

// listAs lists ConfigMaps in the subtree of the namespace a as a user.
func (h *handler) listAs(t *testing.T, name string, query url.Values) (*httptest.ResponseRecorder, error) {
	t.Helper()
	info := &genericapirequest.RequestInfo{IsResourceRequest: true, Verb: "list", APIGroup: groupName, Namespace: "a", Resource: "configmaps", Parts: []string{"configmaps"}}
	ctx := genericapirequest.WithRequestInfo(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: name}), info)
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, "GET", "/?"+query.Encode(), nil)
	return w, h.serve(w, r, info, configMaps)
}

// newHandler returns a handler that reads from a source.
func newHandler(t *testing.T, tree Tree) (*source, *handler) {
	t.Helper()
	s, mux, _ := newSource(t)
	return s, &handler{
		members: newMembers(tree), upstream: mux.upstream, mux: mux, authorizer: everythingAllowed{},
		serializer: serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion(),
		limits:     map[string]*inflight.Limiter{"list": inflight.New("lists", inflight.Limits{Total: 3, PerUser: 2}, 1)},
	}
}

func TestListsOfOneUserAreLimited(t *testing.T) {
	tree := &fixedTree{names: []string{"a"}, held: make(chan struct{}), waiting: make(chan struct{}, 3)}
	_, h := newHandler(t, tree)
	results := make(chan error, 3)
	for _, name := range []string{"ann", "ann", "ben"} {
		go func() {
			_, err := h.listAs(t, name, nil)
			results <- err
		}()
		<-tree.waiting
	}
	for _, name := range []string{"ann", "cat"} {
		if _, err := h.listAs(t, name, nil); !apierrors.IsTooManyRequests(err) {
			t.Errorf("%s got %v, want TooManyRequests", name, err)
		}
	}
	close(tree.held)
	for range 3 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	tree.held = nil
	if _, err := h.listAs(t, "ann", nil); err != nil {
		t.Error(err)
	}
}
