package reposync

import (
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/cluster/clustertest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/git"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

func TestRevisionsShareMemory(t *testing.T) {
	space := newSpace(1600)
	of := func(account string) *share {
		return &share{of: space, account: v1alpha3.ServiceAccountReference{Name: account}}
	}
	take := func(s, earlier *share, bytes int64, want string) {
		t.Helper()
		err := s.take(bytes, earlier)
		if (err == nil) != (want == "") || err != nil && (err.Code != report.LimitExceeded || !strings.Contains(err.Message, want)) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	const own, all = "of its ServiceAccount", "other repositories leave"
	a, b, c := of("a"), of("b"), of("c")
	take(a, nil, 401, own)
	take(a, nil, 400, "")
	take(of("a"), nil, 1, own)
	take(b, nil, 320, "")
	take(c, nil, 11, all)
	take(c, nil, 10, "")

	// Those in use are replaced, by larger ones if there is space.
	next := of("b")
	take(next, b, 321, all)
	take(next, b, 320, "")
	take(of("c"), c, 11, all)
	take(of("a"), a, 400, all) // One at a time.
	b.release()
	again := of("a")
	take(again, a, 400, "")
	a.release()
	next.release()
	take(c, nil, 321, all) // A tenth is for accounts that need an eighth of it at most.
	take(c, nil, 320, "")
	take(of("b"), nil, 11, all)
	take(b, nil, 6, "")
	take(of("b"), nil, 5, all)
	d := of("d")
	take(d, nil, 4, "")
	for _, s := range []*share{again, b, c, d} {
		s.release()
	}
	if len(space.taken) > 0 {
		t.Errorf("%v is not released", space.taken)
	}
	take(&share{of: newSpace(math.MaxInt64)}, nil, 1<<40, "")
	take(&share{}, nil, 1<<40, "")
}

// The source of a RepositorySync that has changed may never be readable, and its spec change again and again.
func TestMemoryIsNotKeptForEver(t *testing.T) {
	now, memory := time.Unix(1, 0), newSpace(400)
	m := &Manager{now: func() time.Time { return now }}
	first := &worker{manager: m, source: newSource("a"), current: &revision{share: share{of: memory}}}
	first.source.applied = &first.current.share
	if err := first.source.applied.take(100, nil); err != nil {
		t.Fatal(err)
	}
	kept := first.drop()
	for _, step := range []struct {
		after time.Duration
		want  int64
	}{{keptFor - 1, 100}, {1, 0}, {time.Hour, 0}} {
		now = now.Add(step.after)
		next := &worker{manager: m, source: newSource("a"), completed: now}
		next.source.applied = &kept
		if done := next.synchronize(t.Context(), true); done.sourceError == nil || memory.taken[kept.account] != step.want {
			t.Errorf("%v: %d bytes are taken, want %d", done.sourceError, memory.taken[kept.account], step.want)
		}
		kept = next.drop()
	}
}

// TestRefusedRevisionsTakeNoMemory reads a commit that there is no space for at first.
func TestRefusedRevisionsTakeNoMemory(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api":
			_, _ = w.Write([]byte(`{"versions":[]}`))
		case "/apis":
			_, _ = w.Write([]byte(`{"groups":[]}`))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	_, c := clustertest.New(t, server.URL)
	root := commit(t, map[string]string{
		"system/repo.yaml":               "apiVersion: configmanagement.gke.io/v1\nkind: Repo\nmetadata: {name: repo}\nspec: {version: 1.0.0}\n",
		"namespaces/shop/namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n",
	})
	t.Run("errors", func(t *testing.T) {
		one := &report.Error{Code: report.LimitExceeded, Paths: []string{"."}}
		w := &worker{manager: &Manager{now: time.Now}, sync: &v1alpha3.RepositorySync{}, cluster: c, source: &source{}, candidate: &revision{commit: "a", errors: slices.Repeat(report.Errors{one}, 1000)}}
		for range 2 {
			done := &outcome{}
			if err := w.prepare(t.Context(), done); err != nil || !strings.Contains(done.message, "commit a is not applied: 1000 error(s)") || len(done.errors) == 0 {
				t.Errorf("got %q, %v", done.message, err)
			}
		}
		if kept := len(w.candidate.refused.errors); kept > maxReported {
			t.Errorf("%d errors are kept", kept)
		}
	})
	spec := v1alpha3.RepositorySyncSpec{Source: v1alpha3.RepositorySource{URL: "file://" + root + "/policy"}}
	unlimited := &source{reader: &git.Reader{LocalRoot: root}, spec: &spec}
	read, err := unlimited.read(t.Context())
	if err != nil || read.values == 0 {
		t.Fatalf("got %v, %v", read, err)
	}
	values := read.values * valueBytes
	for name, free := range map[string]int64{"for no values": values - 1, "for no objects": values + objectBytes - 1} {
		t.Run(name, func(t *testing.T) {
			memory := newSpace(4 * (values + objectBytes))
			others := &share{of: memory}
			if err := others.take(values+objectBytes-free, nil); err != nil {
				t.Fatal(err)
			}
			w := &worker{
				manager: &Manager{now: time.Now}, sync: &v1alpha3.RepositorySync{Spec: spec}, cluster: c, rejections: plan.NewRejections(),
				source: &source{reader: &git.Reader{LocalRoot: root}, spec: &spec, memory: memory},
			}
			prepare := func() *outcome {
				t.Helper()
				done := &outcome{}
				found, err := w.source.read(t.Context())
				if found != nil {
					w.candidate = found
				}
				if err = errors.Join(err, w.prepare(t.Context(), done)); err != nil {
					t.Fatal(err)
				}
				return done
			}
			// It is read again after a while.
			for range 2 {
				done := prepare()
				if done.reason != hnc.ReasonInvalidRepository || done.errors[0].Code != report.LimitExceeded || done.seen == "" || w.current != nil {
					t.Fatalf("got %s: %s, %v", done.reason, done.message, done.errors)
				}
				if taken := memory.taken[spec.ServiceAccount]; taken != others.bytes || w.candidate.objects != nil {
					t.Errorf("it keeps %d bytes, and %d objects", taken-others.bytes, len(w.candidate.objects))
				}
				others.release()
				w.source.until = w.source.until.Add(time.Minute)
			}
			w.source.until = time.Time{}
			if prepare(); w.current == nil || w.candidate != nil {
				t.Error("it is not read again")
			}
			if taken := memory.taken[spec.ServiceAccount]; taken != values+objectBytes {
				t.Errorf("the revision that is applied takes %d bytes, want %d", taken, values+objectBytes)
			}
			// The next worker of the RepositorySync has no other space than that of the one before.
			kept := w.drop()
			all := memory.total
			first, second := share{of: memory, account: v1alpha3.ServiceAccountReference{Name: "first"}}, share{of: memory, account: v1alpha3.ServiceAccountReference{Name: "second"}}
			if first.take(all*9/10-all/2-1, nil) != nil || second.take(all/80, nil) != nil {
				t.Fatalf("%v is taken of %d", memory.taken, all)
			}
			w = &worker{
				manager: w.manager, sync: w.sync, cluster: c, rejections: plan.NewRejections(),
				source: &source{reader: &git.Reader{LocalRoot: root}, spec: &spec, memory: memory, applied: &kept},
			}
			if prepare(); w.current == nil {
				t.Error("the next worker has no space")
			}
			first.release()
			second.release()
			kept = w.drop()
			if kept.release(); len(memory.taken) > 0 {
				t.Errorf("%v is not released", memory.taken)
			}
		})
	}
}
