package reposync

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/git"
)

// account returns the ServiceAccount default of a namespace, or the one of namespace/name.
func account(name string) v1alpha3.ServiceAccountReference {
	namespace, name, _ := strings.Cut(name, "/")
	return v1alpha3.ServiceAccountReference{Namespace: namespace, Name: cmp.Or(name, "default")}
}

func TestTurnsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		err := inTurn(t.Context(), account("a"), func(ctx context.Context) error {
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if err == nil || !strings.Contains(err.Error(), "split it") || time.Since(begin) != turnLimit {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
	})
	failed := errors.New("failed")
	if err := inTurn(t.Context(), account("a"), func(context.Context) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
}

// The author of a commit decides how long its turns take, and may push another one at once.
func TestLongTurnsComeAfterOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := turns{rests: map[v1alpha3.ServiceAccountReference]time.Time{}}
		var order []string
		wait := func(name string, took time.Duration) {
			go func() {
				if err := turns.begin(t.Context(), account(name)); err != nil {
					t.Error(err)
				}
				order = append(order, name)
				time.Sleep(took)
				turns.end(account(name), took)
			}()
			synctest.Wait()
		}
		expect := func(names ...string) {
			t.Helper()
			time.Sleep(time.Hour)
			synctest.Wait()
			if !slices.Equal(order, names) {
				t.Errorf("got the turns of %q, want %q", order, names)
			}
			order = nil
		}
		for range 3 {
			wait("long", turnLimit)
		}
		wait("a", time.Second)
		wait("b", time.Second)
		expect("long", "a", "b", "long", "long")
		// Others of its namespace do, too, but after those of other namespaces.
		for range 3 {
			wait("shared/long", turnLimit)
		}
		wait("shared/a", time.Second)
		wait("shared/b", time.Second)
		wait("c", time.Second)
		expect("shared/long", "c", "shared/a", "shared/b", "shared/long", "shared/long")
		// However many turns it has, it comes after others no longer than after one of the longest.
		for range 20 {
			wait("long", turnLimit)
		}
		expect(slices.Repeat([]string{"long"}, 20)...)
		time.Sleep(turnRest * turnLimit)
		wait("a", time.Second)
		wait("long", time.Second)
		wait("b", time.Second)
		expect("a", "long", "b")
		if turns.taken || len(turns.rests) > 6 {
			t.Errorf("a turn is taken: %t, these rest: %v", turns.taken, turns.rests)
		}
	})
}

func TestTurnsAreAwaitedUntilTheContextEnds(t *testing.T) {
	turns := turns{rests: map[v1alpha3.ServiceAccountReference]time.Time{}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	// Whether it begins or ends first is not known.
	for range 100 {
		if err := turns.begin(ctx, account("a")); err == nil {
			turns.end(account("a"), 0)
		}
		if turns.taken {
			t.Fatal("a turn that was not awaited does not end")
		}
	}
	if err := turns.begin(t.Context(), account("a")); err != nil {
		t.Fatal(err)
	}
	if err := turns.begin(ctx, account("a")); !errors.Is(err, context.Canceled) || len(turns.waiting) > 0 {
		t.Errorf("got %v, and %d wait", err, len(turns.waiting))
	}
}

func TestWorkersUnpackInTurn(t *testing.T) {
	w, err := newWorker(&Manager{now: time.Now, Config: Config{Client: &rest.Config{Host: "http://127.0.0.1:1"}}}, &v1alpha3.RepositorySync{Spec: v1alpha3.RepositorySyncSpec{
		ServiceAccount: v1alpha3.ServiceAccountReference{Namespace: "of-many-accounts", Name: "a"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	taken := false
	err = w.source.reader.InTurn(t.Context(), func(context.Context) error {
		taken = loading.taken
		return nil
	})
	if err != nil || !taken {
		t.Errorf("got %v, in turn: %t", err, taken)
	}
	if _, rests := loading.rests[v1alpha3.ServiceAccountReference{Namespace: "of-many-accounts"}]; !rests {
		t.Errorf("other ServiceAccounts of its namespace do not come after others: %v", loading.rests)
	}
}

// It is no fault of a repository that others are parsed all the time.
func TestWhatIsFetchedWaitsForItsTurn(t *testing.T) {
	s := localSource(commit(t, map[string]string{"cluster/a.txt": "none"}))
	synctest.Test(t, func(t *testing.T) {
		if err := loading.begin(t.Context(), account("a")); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(20*time.Minute, func() { loading.end(account("a"), 0) })
		begin := time.Now()
		// Meanwhile, the revision in force is corrected.
		if read, err := s.read(t.Context()); !errors.Is(err, git.ErrBudget) || time.Since(begin) != readLimit || s.moved(t.Context()) {
			t.Errorf("after %s: got %v, %v", time.Since(begin), read, err)
		}
		if read, err := s.read(t.Context()); !errors.Is(err, git.ErrBudget) || time.Since(begin) != readLimit {
			t.Errorf("after %s: got %v, %v", time.Since(begin), read, err)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if moved := s.moved(t.Context()); !moved || time.Since(begin) != 20*time.Minute {
			t.Errorf("after %s, it is not read", time.Since(begin))
		}
		if read, err := s.read(t.Context()); err != nil || read == nil || s.reading != nil || s.head != read.commit {
			t.Errorf("got %v, %v", read, err)
		}
	})
}

func TestWhatIsStillReadReleasesItsMemory(t *testing.T) {
	s := localSource(commit(t, map[string]string{"cluster/a.yaml": "{kind: Namespace, apiVersion: v1, metadata: {name: a}}"}))
	s.memory = newSpace(1 << 30)
	synctest.Test(t, func(t *testing.T) {
		if err := loading.begin(t.Context(), account("a")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.read(t.Context()); !errors.Is(err, git.ErrBudget) {
			t.Errorf("got %v", err)
		}
		loading.end(account("a"), 0)
		<-s.reading.done
		if len(s.memory.taken) != 1 {
			t.Errorf("%v is taken", s.memory.taken)
		}
		(&worker{source: s}).drop()
		if len(s.memory.taken) > 0 {
			t.Errorf("%v is not released", s.memory.taken)
		}
	})
}

// A turn that ends is the fault of the commit, not of its server.
func TestUnpackingThatTakesTooLongIsALimit(t *testing.T) {
	limit := &report.Error{Code: report.LimitExceeded}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(limit)
	s := localSource(commit(t, map[string]string{"cluster/a.txt": "none"}))
	read, err := s.readHead(ctx, "head", nil, nil)
	if err != nil || len(read.errors) != 1 || read.errors[0] != limit {
		t.Errorf("got %+v, %v", read, err)
	}
}
