package queue

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// However much there is to do of one class, in the same tree or in others, the work of another class has its turn.
func TestNoClassStopsAnother(t *testing.T) {
	for flooding := range classes {
		for class := range classes {
			if class == flooding {
				continue
			}
			q := New(treeOf, nil)
			for i := range 1000 {
				q.Add(Key{Class: flooding, Namespace: "a", Name: fmt.Sprint(i)})
			}
			q.Add(Key{Class: class, Namespace: "a"})
			q.Add(Key{Class: class, Namespace: "b"})
			got := handedOut(q, 4)
			for _, want := range []string{class.String() + " a", class.String() + " b"} {
				if !slices.Contains(got, want) {
					t.Errorf("%s waits for 1000 keys of class %s: %v", want, flooding, got)
				}
			}
			q.ShutDown()
		}
	}
}

func TestTheLengthOfEachClassIsReported(t *testing.T) {
	lengths := map[string]int{}
	q := New(nil, func(class string, length int) { lengths[class] = length })
	defer q.ShutDown()
	for i := range 100 {
		q.Add(Key{Class: Copy, Kind: i})
	}
	q.Add(Key{Class: Status})
	for range 51 {
		key, _ := q.Get()
		q.Done(key)
	}
	if lengths["copy"] != 50 || lengths["status"] != 0 || q.Len() != 50 {
		t.Errorf("lengths %v of %d", lengths, q.Len())
	}
}

func TestFailingWorkBacksOff(t *testing.T) {
	q := New(nil, nil)
	defer q.ShutDown()
	key := Key{Class: Copy}
	q.AddRateLimited(key)
	q.AddRateLimited(key)
	if n := q.NumRequeues(key); n != 2 {
		t.Errorf("requeued %d times", n)
	}
	got, _ := q.Get() // it does arrive
	q.Forget(got)
	if n := q.NumRequeues(key); n != 0 {
		t.Errorf("not forgotten: %d", n)
	}
}

func TestTheLagOfAChangeEndsWithItsLastWork(t *testing.T) {
	start := time.Unix(1000, 0)
	clock := start
	var lags []time.Duration
	l := NewLag(func(kind int, d time.Duration) {
		if kind != 7 {
			t.Errorf("lag of kind %d", kind)
		}
		lags = append(lags, d)
	})
	l.now = func() time.Time { return clock }
	a, b := Key{Class: Copy, Kind: 7, Namespace: "a"}, Key{Class: Copy, Kind: 7, Namespace: "b"}

	l.Start(start, nil)
	l.Start(start, []Key{a, b})
	clock = start.Add(time.Second)
	l.Done(a)
	l.Done(a)
	if len(lags) != 0 {
		t.Fatalf("over before b is done: %v", lags)
	}
	clock = start.Add(2 * time.Second)
	l.Start(clock, []Key{b}) // overtakes
	clock = start.Add(5 * time.Second)
	l.Done(b)
	if !slices.Equal(lags, []time.Duration{2 * time.Second, 3 * time.Second}) {
		t.Errorf("lags %v", lags)
	}
}
