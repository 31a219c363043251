package waitready

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
)

// store sends events to its watches.
type store struct {
	rest.Watcher
	events []watch.Event
}

func (s store) Watch(context.Context, *metainternalversion.ListOptions) (watch.Interface, error) {
	watcher := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: len(s.events)})
	for _, e := range s.events {
		watcher.Action(e.Type, e.Object)
	}
	return watcher, nil
}

// recorder records warnings.
type recorder struct{ all []string }

func (r *recorder) AddWarning(_, text string) { r.all = append(r.all, text) }

var enforced = Effect[*hnc.HierarchicalResourceQuota]{
	Resource:   "hierarchicalresourcequotas",
	Condition:  hnc.ConditionReady,
	Conditions: func(q *hnc.HierarchicalResourceQuota) []metav1.Condition { return q.Status.Conditions },
	Pending:    []string{hnc.ReasonPending},
	Warned:     []string{hnc.ReasonQuotaLimitsIgnored},
	Without:    func(*hnc.HierarchicalResourceQuota) string { return "not in force" },
}

// at returns a quota of the second generation with a condition of a generation; 0 is none.
func at(generation int64, status metav1.ConditionStatus, reason string) *hnc.HierarchicalResourceQuota {
	q := &hnc.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "q", UID: "1", Generation: 2}}
	if generation > 0 {
		q.Status.Conditions = []metav1.Condition{{Type: hnc.ConditionReady, Status: status, Reason: reason, Message: "because of " + reason, ObservedGeneration: generation}}
	}
	return q
}

func TestWait(t *testing.T) {
	written := at(1, metav1.ConditionTrue, "Reserved")
	deleted, changed := at(1, metav1.ConditionTrue, "Reserved"), at(1, metav1.ConditionTrue, "Reserved")
	deleted.DeletionTimestamp, changed.Generation = &metav1.Time{}, 3
	modified := func(objects ...runtime.Object) (events []watch.Event) {
		for _, o := range objects {
			events = append(events, watch.Event{Type: watch.Modified, Object: o})
		}
		return events
	}
	const timedOut = "it takes longer than this request waits"
	for name, test := range map[string]struct {
		written *hnc.HierarchicalResourceQuota
		events  []watch.Event
		stopped string
		// warning is a part of the only warning, "" if there is none.
		warning string
	}{
		"in force":                   {written, modified(at(2, metav1.ConditionTrue, "Reserved")), "", ""},
		"pending at first":           {written, modified(at(2, metav1.ConditionFalse, hnc.ReasonPending), at(2, metav1.ConditionTrue, "Reserved")), "", ""},
		"of an earlier generation":   {written, modified(at(1, metav1.ConditionTrue, "Reserved")), "", timedOut},
		"without a report":           {at(0, "", ""), modified(at(0, "", "")), "", timedOut},
		"pending":                    {written, modified(at(2, metav1.ConditionFalse, hnc.ReasonPending)), "", timedOut},
		"impossible":                 {written, modified(at(2, metav1.ConditionFalse, "TooLarge")), "", "because of TooLarge"},
		"in force but for a part":    {written, modified(at(2, metav1.ConditionFalse, hnc.ReasonQuotaLimitsIgnored)), "", ""},
		"deleted":                    {written, modified(deleted), "", "it is being deleted"},
		"changed by others":          {written, modified(changed), "", "it was changed by another request"},
		"stopped":                    {written, nil, "nothing is propagated", "not in force: nothing is propagated; see the conditions of hierarchicalresourcequotas.hnc.x-k8s.io"},
		"nothing changed":            {at(2, metav1.ConditionFalse, "TooLarge"), nil, "", ""},
		"repeated while pending":     {at(2, metav1.ConditionFalse, hnc.ReasonPending), modified(at(2, metav1.ConditionTrue, "Reserved")), "", ""},
		"repeated, and still so":     {at(2, metav1.ConditionFalse, hnc.ReasonPending), nil, "", timedOut},
		"repeated without a report":  {at(2, metav1.ConditionUnknown, "Unknown"), nil, "", timedOut},
		"deleted before its request": {deleted, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			warnings := &recorder{}
			waiter := Waiter{Timeout: 50 * time.Millisecond, Free: time.Hour, Stopped: func(context.Context) string { return test.stopped }}
			Wait(warning.WithWarningRecorder(t.Context(), warnings), waiter, store{events: test.events}, test.written, enforced)
			if got := strings.Join(warnings.all, "\n"); (test.warning == "") != (got == "") || !strings.Contains(got, test.warning) {
				t.Errorf("warnings %q, want %q", got, test.warning)
			}
		})
	}
}

func TestUntil(t *testing.T) {
	failed := errors.New("failed")
	for name, test := range map[string]struct {
		complete func(context.Context) error
		stopped  string
		slots    int
		want     string
	}{
		"complete": {func(context.Context) error { return nil }, "", 0, ""},
		"failed":   {func(context.Context) error { return failed }, "", 0, "failed"},
		"late":     {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, "", 1, "it takes longer than this request waits"},
		"too many": {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, "", 0, "as many waiting requests"},
		"stopped":  {nil, "nothing is propagated", 1, "nothing is propagated"},
	} {
		t.Run(name, func(t *testing.T) {
			waiter := Waiter{
				Timeout: 50 * time.Millisecond, Free: time.Millisecond, Stopped: func(context.Context) string { return test.stopped },
				Slots: inflight.New("waiting requests", inflight.Limits{Total: test.slots, PerUser: test.slots}, 1),
			}
			err := waiter.Until(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "ann"}), test.complete)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestAPanicReachesTheRequest(t *testing.T) {
	defer func() {
		if r := recover(); r != "broken" {
			t.Errorf("recovered %v, want the panic of complete", r)
		}
	}()
	waiter := Waiter{Timeout: time.Minute, Free: time.Minute, Stopped: func(context.Context) string { return "" }, Slots: inflight.New("waiting requests", inflight.Limits{}, 1)}
	_ = waiter.Until(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "ann"}), func(context.Context) error { panic("broken") })
}

// A user who has requests wait in vain leaves slots to others.
func TestWaitingRequestsAreBounded(t *testing.T) {
	waiter := Waiter{
		Timeout: time.Hour, Free: time.Millisecond, Slots: inflight.New("waiting requests", inflight.Limits{Total: 2, PerUser: 1}, 1),
		Stopped: func(context.Context) string { return "" },
	}
	ended := make(chan string, 4)
	wait := func(name string) context.CancelFunc {
		warnings := &recorder{}
		ctx, cancel := context.WithCancel(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: name}))
		go func() {
			Wait(warning.WithWarningRecorder(ctx, warnings), waiter, store{}, at(0, "", ""), enforced)
			ended <- name + ": " + strings.Join(warnings.all, "\n")
		}()
		return cancel
	}
	busy := func(name string) {
		t.Helper()
		select {
		case got := <-ended:
			if !strings.HasPrefix(got, name+": not in force: this server has as many waiting requests") {
				t.Error(got)
			}
		case <-time.After(time.Minute):
			t.Fatal("nothing ended")
		}
	}
	stop := []context.CancelFunc{wait("eve"), wait("eve")}
	busy("eve")
	wait("alice")
	wait("alice")
	busy("alice")
	wait("bob")
	busy("bob")
	// The slot of a request that has ended is free.
	stop[0]()
	stop[1]()
	<-ended
	wait("bob")
	wait("bob")
	busy("bob")
}
