package subtree

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/deepjson"
)

// The top level of a custom resource is free: its fields neither end the watches of others nor forge their events.
func TestFieldsOfAnObjectAreNoMetadata(t *testing.T) {
	s, h, r := newSource(t)
	victim := `{"metadata":{"namespace":"victim","resourceVersion":"999999999999"}}`
	s.lines = map[int]string{}
	for i, field := range []string{
		`"rows":1`, `"rows":[]`, `"rows":[{"object":` + victim + `}]`, `"METADATA":1`, `"Metadata":{"namespace":"victim","resourceVersion":"99"}`, `"kind":"Table","apiVersion":"a.b/v1","rows":[{"object":` + victim + `}]`,
	} {
		s.lines[i+1] = fmt.Sprintf(`{"type":"ADDED","object":{"metadata":{"namespace":"mallory","name":"n","resourceVersion":"%d"},%s}}`, i+1, field)
	}
	events := watchFrom(t.Context(), t, h, r, "0")
	s.grow(len(s.lines))
	for i := range s.lines {
		if f, ok := events.receive(t); !ok || f.meta.Namespace != "mallory" {
			t.Errorf("event %d: got %v %+v", i, ok, f.meta)
		}
	}
	s.grow(len(s.lines) + 1)
	expect(t, events, len(s.lines)+1, len(s.lines)+1)
	if got := s.watches(); got != "1 open, 1 in all" {
		t.Errorf("upstream watches: %s", got)
	}
}

// In a table, the object of the row is the user's.
func TestFieldsOfAnObjectInATableAreNoMetadata(t *testing.T) {
	for object, want := range map[string]string{
		`{"kind":"Table","metadata":{"resourceVersion":"5"},"rows":[{"cells":[],"object":{"metadata":{"namespace":"mallory"},"METADATA":{"namespace":"victim"},"rows":1}}]}`: "mallory",
		`{"kind":"Table","metadata":{"namespace":"none"},"rows":[]}`: "none",
		`{"kind":"Status","metadata":{}}`:                            "",
	} {
		if got, err := eventMetaOf(json.RawMessage(object), true); err != nil || got.Namespace != want {
			t.Errorf("%s: got %q, %v", object, got.Namespace, err)
		}
	}
}

// kube-apiserver stores objects of 10,000 levels, and managed fields of as many. What cannot be decoded is dropped, and the
// watch continues.
func TestDeepEventsEndNoWatch(t *testing.T) {
	s, h, r := newSource(t)
	deep := func(revision, levels int) string {
		return fmt.Sprintf(`{"type":"ADDED","object":{"metadata":{"namespace":"a","resourceVersion":"%d"},"a":%s1%s}}`, revision, strings.Repeat("[", levels-1), strings.Repeat("]", levels-1))
	}
	managed := `"metadata":{"managedFields":[{"fieldsV1":` + strings.Repeat(`{"f:a":`, 9_999) + "{}" + strings.Repeat("}", 9_999) + `}],`
	s.lines = map[int]string{1: deep(1, 10_000), 2: deep(2, 10_001), 3: `{"type":`, 4: strings.Replace(deep(4, 1), `"metadata":{`, managed, 1)}
	events := watchFrom(t.Context(), t, h, r, "0")
	s.grow(5)
	expect(t, events, 1, 1)
	expect(t, events, 4, 5)
	if got := s.watches(); got != "1 open, 1 in all" {
		t.Errorf("upstream watches: %s", got)
	}
}

func TestDeepObjectsAreListed(t *testing.T) {
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	list, err := deepjson.ReadList([]byte(`{"kind":"CList","apiVersion":"a.b/v1","metadata":{"resourceVersion":"7","continue":"c"},"more":[],"items":[` + deep + `,{}],"rows":null}`))
	if err != nil {
		t.Fatal(err)
	}
	p := page(*list)
	if p.Kind != "CList" || p.APIVersion != "a.b/v1" || p.Metadata.ResourceVersion != "7" || p.Metadata.Continue != "c" || len(p.Items) != 2 || len(p.Rows) != 0 {
		t.Errorf("got %+v", p.Metadata)
	}
	if _, err := json.Marshal(p); err != nil {
		t.Error(err)
	}
}

func TestFieldsOfAListedObjectAreNoMetadata(t *testing.T) {
	p := &page{Kind: "CList", APIVersion: "a.b/v1", Items: []json.RawMessage{[]byte(`{"kind":"C","metadata":{"name":"n"},"METADATA":1,"KIND":1}`)}}
	if objects, err := p.objects(); err != nil || len(objects) != 1 {
		t.Errorf("got %s, %v", objects, err)
	}
	var w watcher
	w.request = &request{}
	w.out = newEventWriter(nil, w.request)
	if stones, err := w.tombstones(p); err != nil || !strings.Contains(string(stones[0]), `"name":"n"`) {
		t.Errorf("got %s, %v", stones, err)
	}
}

// unfinished is a response with an event whose end is missing until it is closed.
type unfinished struct {
	io.Reader
	read   *atomic.Int64
	closed <-chan struct{}
}

func (u unfinished) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if err == io.EOF {
		<-u.closed
		return 0, io.ErrUnexpectedEOF
	}
	u.read.Add(int64(n))
	return n, nil
}

func (unfinished) Close() error { return nil }

// Watches with different selectors do not share an upstream watch.
func TestLargeEventsWaitBeforeTheyAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const watches, size = 400, 6 << 20
		m := newWatchMux(upstream{}, watches)
		event := bytes.Repeat([]byte("x"), size)
		var read atomic.Int64
		var running sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		for i := range watches {
			running.Go(func() {
				newSharedWatch(ctx, m, reader{memory: testMemory().share(fmt.Sprint(i/100), fmt.Sprint(i/100))}).decode(unfinished{bytes.NewReader(event), &read, ctx.Done()}, func(rawEvent) bool { return true })
			})
		}
		synctest.Wait()
		if got, most := read.Load(), int64(maxSlots*size+watches*2*largeEvent); got < maxSlots*size || got > most {
			t.Errorf("%d MiB of %d events are read, want %d MiB at most", got>>20, watches, most>>20)
		}
		// Clients that leave do not wait.
		cancel()
		running.Wait()
		if len(m.largeEvents.owners) > 0 {
			t.Errorf("after all watches have ended, slots are taken by %v", m.largeEvents.owners)
		}
	})
}

// A user may have watches with any number of selectors, and a tree any number of users.
func TestOneUserAndOneTreeLeaveSlotsToOthers(t *testing.T) {
	for what, request := range map[string]func(i int) *share{
		"user": func(i int) *share { return testMemory().share("eve", fmt.Sprint(i)) },
		"tree": func(i int) *share { return testMemory().share(fmt.Sprint(i), "a") },
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				events := newSlots()
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				for i := range 400 {
					running.Go(func() {
						if release, err := events.acquire(ctx, request(i)); err == nil {
							<-ctx.Done()
							release()
						}
					})
				}
				synctest.Wait()
				release, err := events.acquire(t.Context(), testMemory().share("ann", "b"))
				if err != nil {
					t.Fatal(err)
				}
				release()
				cancel()
				running.Wait()
				if len(events.owners) > 0 {
					t.Errorf("slots are taken by %v", events.owners)
				}
			})
		})
	}
}

// of returns how many slots an owner has, and how many wait for them or have them.
func (s *slots) of(owner slotOwner) (taken, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.owners[owner]; own != nil {
		return len(own.taken), own.waiting
	}
	return 0, 0
}

// A client that reads slowly would keep large events from all others.
func TestBufferedEventsTakeNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newWatchMux(upstream{}, 10)
		events := strings.Repeat(fmt.Sprintf(`{"type":"ADDED","object":{"metadata":{"namespace":"a","resourceVersion":"1"},"data":{"x":"%s"}}}`+"\n", strings.Repeat("x", 1<<20)), 3)
		w := newSharedWatch(t.Context(), m, reader{kind: configMaps, memory: testMemory().share("ann", "a")})
		w.own = true
		var added atomic.Int32
		var running sync.WaitGroup
		running.Go(func() {
			w.decode(io.NopCloser(strings.NewReader(events)), func(e rawEvent) bool {
				if taken, _ := m.largeEvents.of(slotOwner{most: maxSlots}); taken != 1 {
					t.Errorf("%d slots are taken while a large event is decoded, want 1", taken)
				}
				w.add(e)
				added.Add(1)
				return true
			})
		})
		synctest.Wait()
		if n := added.Load(); n != 1 || len(m.largeEvents.owners) > 0 {
			t.Errorf("%d events are buffered, and slots are taken by %v", n, m.largeEvents.owners)
		}
		w.cancel()
		running.Wait()
	})
}
