package view

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// A write reads the namespace again while it still has what it read before.
func TestNamespacesThatAreReadAgainStayCounted(t *testing.T) {
	for method, body := range map[string]string{
		http.MethodPatch:  `{"metadata":{"labels":{"lock":"x"}}}`,
		http.MethodPut:    `{"metadata":{"name":"dev","labels":{"lock":"x"}}}`,
		http.MethodDelete: "",
	} {
		synctest.Test(t, func(t *testing.T) {
			c, b, reads, conflicts := newCluster(), &perUser{}, 0, 0
			c.labels = `{"lock":"free",` + pairsOf(2000) + "}"
			size := int64(copiesOfRead * len(c.labels))
			c.before = func(r *http.Request) {
				if reads > 0 && b.bytes < size {
					t.Errorf("%s: %d bytes are counted before %s %s, and not %d", method, b.bytes, r.Method, r.URL.Path, size)
				}
				if r.URL.Path == "/api/v1/namespaces/acme-dev" {
					reads++
				}
				if r.Method == http.MethodPut && conflicts == 0 {
					conflicts++
					c.sub.ResourceVersion += "c"
				}
			}
			w := httptest.NewRecorder()
			c.serve(t, b, writer{w, func() {
				if b.bytes < size {
					t.Errorf("%s: %d bytes are counted while the response is written, and not %d", method, b.bytes, size)
				}
			}}, method, mergePatch, body)
			if w.Code != http.StatusOK || reads < 2 || b.bytes != 0 {
				t.Errorf("%s: got %d %.300s after %d reads; %d bytes are left", method, w.Code, w.Body, reads, b.bytes)
			}
		})
	}
}

const mergePatch = "application/merge-patch+json"

// manyAnnotations is a patch after which the Subnamespace is large.
var manyAnnotations = `{"metadata":{"annotations":{` + pairsOf(2000) + `}}}`

// A write that has taken effect is not answered with a conflict because its response has waited.
func TestWritesWaitLongerThanPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, w := newCluster(), httptest.NewRecorder()
		if c.serve(t, &late{}, w, http.MethodPatch, mergePatch, manyAnnotations); w.Code != http.StatusOK || len(c.sub.Spec.NamespaceAnnotations) <= 2000 {
			t.Errorf("got %d %.300s", w.Code, w.Body)
		}
	})
}

// late is a budget that has room for the response to a write after polls have ended.
type late struct{ unlimited }

func (late) Answer(ctx context.Context, _ int64) (func(), error) {
	select {
	case <-ctx.Done():
		return nil, apierrors.NewTimeoutError("too large for now", 0)
	case <-time.After(seeTimeout + time.Second):
		return func() {}, nil
	}
}

// onlyReads is a budget that has nothing for what responds to writes.
type onlyReads struct{ perUser }

func (*onlyReads) Answer(context.Context, int64) (func(), error) {
	return nil, apierrors.NewTimeoutError("too large for now", 0)
}

// A dry run, even of a deletion, has written nothing, so its client may repeat it.
func TestDryRunsDoNotWaitAsWritesDo(t *testing.T) {
	for _, test := range []struct {
		method, body, query string
		code                int
	}{
		{http.MethodPatch, manyAnnotations, "", http.StatusGatewayTimeout},
		{http.MethodPatch, manyAnnotations, "dryRun=All", http.StatusOK},
		{http.MethodDelete, `{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}`, "", http.StatusOK},
	} {
		c, b, w := newCluster(), &onlyReads{}, httptest.NewRecorder()
		if test.method == http.MethodDelete {
			for i := range 2000 {
				c.sub.Spec.NamespaceAnnotations = append(c.sub.Spec.NamespaceAnnotations, v1beta1.MetaKVP{Key: fmt.Sprintf("a%05d", i)})
			}
		}
		if c.serve(t, b, w, test.method, mergePatch, test.body, test.query); w.Code != test.code || b.bytes != 0 {
			t.Errorf("%s %s: got %d %.300s; %d bytes are left", test.method, test.query, w.Code, w.Body, b.bytes)
		}
	}
}

// A namespace that is created is read after that, and a client must not create it again.
func TestWhatIsReadAfterAWriteWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refused error
		h := relative(t, func(r *http.Request) (*http.Response, error) {
			if strings.Contains(r.URL.Path, "/subnamespaces") {
				return answer(subnamespace), nil
			}
			return answer(annotated(4000)), refused
		})
		create := func(budget Budget) *httptest.ResponseRecorder {
			h.Budget = budget
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/api/v1/namespaces", strings.NewReader(`{"metadata":{"name":"new"}}`)))
			return w
		}
		b := &answers{}
		if w := create(b); w.Code != http.StatusCreated || b.most == 0 || b.bytes != 0 {
			t.Errorf("got %d %.300s; %d bytes are counted, and %d are left", w.Code, w.Body, b.most, b.bytes)
		}
		for _, refused = range []error{nil, errors.New("connection refused")} {
			if w := create(noAnswer{}); w.Code != http.StatusGatewayTimeout || w.Header().Get("Retry-After") != "" || strings.Contains(w.Body.String(), "https:") {
				t.Errorf("without memory, %v, got %d %.600s", refused, w.Code, w.Body)
			}
		}
	})
}

// noAnswer is a budget that has nothing left at all, for as long as it may wait.
type noAnswer struct{ full }

func (noAnswer) Answer(ctx context.Context, _ int64) (func(), error) {
	<-ctx.Done()
	return nil, apierrors.NewTimeoutError("too large for now", 0)
}
