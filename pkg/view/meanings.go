package view

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// meanings ends requests whose names get another meaning, because a namespace that has a rival in the view joins or
// leaves: no request begins in one namespace and goes on in another one.
type meanings struct {
	names *mapping.Names

	mu sync.Mutex
	// by are the requests in progress: by the real names that theirs mean, and of all namespaces by "".
	by map[string]meaning
}

type meaning struct {
	context.Context
	end context.CancelFunc
}

// of returns a context that is done when the name in the view of a namespace does not mean it any more although it is a
// member, or for "" when any name has got another meaning.
func (m *meanings) of(realName string) context.Context {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, rival := m.names.Rival(realName); realName != "" && !rival {
		return context.Background()
	}
	known, ok := m.by[realName]
	if !ok {
		known.Context, known.end = context.WithCancel(context.Background())
		m.by[realName] = known
	}
	return known
}

// changed ends the requests by a namespace that has joined, left or was replaced, and by its rival, whose names mean
// another namespace now; and all across the view if two namespaces with one name are, or were, in it.
func (m *meanings) changed(realName string) {
	rival, ok := m.names.Rival(realName)
	if !ok {
		return
	}
	contested := m.names.Member(rival)
	gone := !m.names.Member(realName) || m.names.Shadowed(realName)
	for name, ended := range map[string]bool{"": contested, realName: gone, rival: contested && m.names.Shadowed(rival)} {
		if ended {
			m.end(name)
		}
	}
}

func (m *meanings) end(realName string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.by[realName]; ok {
		known.end()
		delete(m.by, realName)
	}
}

// errRenamed is the cause of the end of requests whose names have another meaning. Clients list again, because they
// could not tell the objects of one namespace from those of the other.
var errRenamed = apierrors.NewResourceExpired("a name in this view has got another meaning, because namespaces that would have the same name have joined or left it; list again")

// whileNamed returns a request that ends with errRenamed when a context of meanings is done, and what releases it.
func whileNamed(means context.Context, r *http.Request) (*http.Request, func()) {
	ctx, cancel := context.WithCancelCause(r.Context())
	stop := context.AfterFunc(means, func() { cancel(errRenamed) })
	return r.WithContext(ctx), func() { stop(); cancel(nil) }
}

// endOfWatch is the event with which a watch ends because of an error.
func endOfWatch(err apierrors.APIStatus) []byte {
	status := err.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	object, failed := json.Marshal(status)
	if failed != nil {
		panic(failed) // a Status has no values that cannot be encoded
	}
	return fmt.Appendf(nil, `{"type":"ERROR","object":%s}`+"\n", object)
}
