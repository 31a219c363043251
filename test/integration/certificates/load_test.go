package certificates

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// written is an annotation that counts writes.
const written = "example.com/written"

// requests are made, and none of them may fail. No client repeats any.
type requests struct {
	lists, writes, events atomic.Int64
	// from is the resource version before the first write.
	from string
	all  sync.WaitGroup
	done context.CancelFunc
}

// request begins to list and to write the hierarchy of a namespace until finish is called or the test ends.
func request(t *testing.T) *requests {
	t.Helper()
	r := &requests{}
	body := fmt.Appendf(nil, `{"apiVersion":%q,"kind":"Hierarchy","metadata":{"name":%q,"annotations":{%q:"0"}}}`,
		v1beta1.SchemeGroupVersion, hnc.Singleton, written)
	suite.Eventually(t, "the API is served", func() error {
		force := true
		h, err := admin.HNC.HncV1beta1().Hierarchies("default").
			Patch(t.Context(), hnc.Singleton, types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "certificates", Force: &force})
		if err == nil {
			r.from = h.ResourceVersion
		}
		return err
	})
	ctx, done := context.WithCancel(t.Context())
	r.done = done
	t.Cleanup(r.finish)
	client := admin.HNC.HncV1beta1().RESTClient()
	r.repeat(ctx, t, "list", &r.lists, func(int64) error {
		return client.Get().Namespace("default").Resource("hierarchies").MaxRetries(0).Do(t.Context()).Error()
	})
	r.repeat(ctx, t, "write", &r.writes, func(n int64) error {
		return client.Patch(types.MergePatchType).Namespace("default").Resource("hierarchies").Name(hnc.Singleton).MaxRetries(0).
			Body(fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d"}}}`, written, n)).Do(t.Context()).Error()
	})
	return r
}

// repeat makes requests of a kind, one after another, until ctx is done.
func (r *requests) repeat(ctx context.Context, t *testing.T, kind string, made *atomic.Int64, request func(n int64) error) {
	r.all.Go(func() {
		for ctx.Err() == nil {
			if err := request(made.Load() + 1); err != nil && t.Context().Err() == nil {
				t.Errorf("%s %d: %v", kind, made.Load()+1, err)
			}
			made.Add(1)
			// Without a pause, they would take all processor time that there is.
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
}

// finish returns when no request is made any more.
func (r *requests) finish() {
	r.done()
	r.all.Wait()
}

// more returns when so many requests of each kind have been made from now on, and so much time has passed.
func (r *requests) more(t *testing.T, n int64, least time.Duration) {
	t.Helper()
	begin, lists, writes := time.Now(), r.lists.Load(), r.writes.Load()
	suite.Eventually(t, "more requests", func() error {
		lists, writes, passed := r.lists.Load()-lists, r.writes.Load()-writes, time.Since(begin)
		if lists < n || writes < n || passed < least {
			return fmt.Errorf("%d lists and %d writes in %s, want %d in %s", lists, writes, passed, n, least)
		}
		return nil
	})
}

// watch begins a watch as informers have it, which goes on where it was interrupted. The returned function finishes the
// requests, and expects that no write was left out.
func (r *requests) watch(t *testing.T) (complete func()) {
	t.Helper()
	var begun atomic.Int64
	watcher, err := watchtools.NewRetryWatcherWithContext(t.Context(), r.from, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			begun.Add(1)
			return admin.HNC.HncV1beta1().Hierarchies("default").Watch(ctx, options)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var events sync.WaitGroup
	events.Go(func() {
		for event := range watcher.ResultChan() {
			h, ok := event.Object.(*v1beta1.Hierarchy)
			if !ok {
				t.Errorf("%s: %+v", event.Type, event.Object)
				return
			}
			n, err := strconv.ParseInt(h.Annotations[written], 10, 64)
			// A write of the status changes nothing here.
			if last := r.events.Load(); err != nil || n != last && n != last+1 {
				t.Errorf("%s of write %d after that of %d: %v", event.Type, n, last, err)
			}
			r.events.Store(n)
		}
	})
	return func() {
		t.Helper()
		r.finish()
		suite.Eventually(t, "the event of the last write", func() error {
			if r.events.Load() != r.writes.Load() {
				return errors.New(r.String())
			}
			return nil
		})
		watcher.Stop()
		events.Wait()
		t.Logf("the watch was established %d times", begun.Load())
	}
}

func (r *requests) String() string {
	return fmt.Sprintf("%d lists, %d writes, %d events of a watch", r.lists.Load(), r.writes.Load(), r.events.Load())
}
