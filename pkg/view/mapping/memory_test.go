package mapping

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// account counts what is reserved.
type account struct{ reserved, limit int64 }

var errFull = errors.New("too much")

func (a *account) reserve(bytes int64) (func(), error) {
	if a.limit > 0 && a.reserved+bytes > a.limit {
		return nil, errFull
	}
	a.reserved += bytes
	return func() { a.reserved -= bytes }, nil
}

// pieces are read one by one, and before each of them a function is called.
type pieces struct {
	texts  []string
	before func(left int)
}

func (p *pieces) Read(b []byte) (int, error) {
	p.before(len(p.texts))
	if len(p.texts) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.texts[0])
	if p.texts[0] = p.texts[0][n:]; p.texts[0] == "" {
		p.texts = p.texts[1:]
	}
	return n, nil
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}

var (
	podKind = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	huge    = strings.Repeat("x", 1<<20)
	hugePod = `{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"acme-prod"},"spec":"` + huge + `"}`
)

// What a client does not read stays counted, and what has been read does not.
func TestLargePartsOfResponsesAreCountedWhileTheyAreWritten(t *testing.T) {
	many := strings.Repeat(`"a":"`+strings.Repeat("x", 1<<10)+`",`, 1<<10)
	for name, test := range map[string]struct {
		translate func(*Mapper, io.Reader, io.Writer) error
		texts     []string
		// kept is whether something large is kept when so many pieces are left.
		kept map[int]bool
	}{
		"a watch": {
			func(m *Mapper, r io.Reader, w io.Writer) error { return m.Watch(podKind, r, w) },
			[]string{`{"type":"ADDED","object":` + hugePod + "}\n", `{"type":"ADDED","object":{}}` + "\n"}, map[int]bool{1: false, 0: false},
		},
		"a list": {
			func(m *Mapper, r io.Reader, w io.Writer) error { return m.Response(podKind, true, r, w) },
			[]string{`{"kind":"PodList","items":[`, hugePod, `,{}]}`}, map[int]bool{1: false, 0: false},
		},
		"a list after a large part": {
			func(m *Mapper, r io.Reader, w io.Writer) error { return m.Response(podKind, true, r, w) },
			[]string{`{"kind":"PodList","metadata":"` + huge + `"`, `,"items":[{}`, `]}`}, map[int]bool{2: true, 1: true},
		},
		"an object": {
			func(m *Mapper, r io.Reader, w io.Writer) error { return m.Response(podKind, false, r, w) },
			[]string{hugePod}, nil,
		},
		"an object of many parts": {
			func(m *Mapper, r io.Reader, w io.Writer) error { return m.Response(podKind, false, r, w) },
			[]string{"{" + many + `"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"acme-prod"}}`}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, written := &account{}, 0
			source := &pieces{test.texts, func(left int) {
				kept, known := test.kept[left]
				if known && (kept && a.reserved < 1<<20 || !kept && a.reserved != 0) {
					t.Errorf("%d bytes are counted before the last %d pieces", a.reserved, left)
				}
			}}
			err := test.translate(testMapper().Counting(a.reserve), source, writerFunc(func(b []byte) {
				written += len(b)
				if len(b) > 1<<20 && a.reserved < 1<<20 {
					t.Errorf("%d bytes are counted while %d are written", a.reserved, len(b))
				}
				if a.reserved > 8<<20 {
					t.Errorf("%d bytes are counted", a.reserved)
				}
			}))
			if err != nil || a.reserved != 0 || written < 1<<20 {
				t.Errorf("got %v; %d bytes are written, and %d are still counted", err, written, a.reserved)
			}
		})
	}
}

// The columns of a Table can have descriptions of any size, which a watch does not keep.
func TestWatchesDoNotKeepTheColumnsOfTables(t *testing.T) {
	for kind, name := range map[schema.GroupVersionKind]string{kindOf("example.com/v1", "Widget"): "acme-prod", kindOf("v1", "Namespace"): "prod"} {
		table := func(columns string) string {
			return `{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":` + columns + `,"rows":[{"cells":["acme-prod"]}]}}` + "\n"
		}
		heap := func() int64 {
			runtime.GC()
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			return int64(stats.HeapAlloc)
		}
		var before, after int64
		source := &pieces{[]string{table(`[{"name":"Name","description":"` + strings.Repeat("x", 8<<20) + `"}]`), table("null"), table("null")}, func(left int) {
			switch {
			case before == 0:
				before = heap()
			case left == 1:
				after = heap()
			}
		}}
		var last string
		err := testMapper().Watch(kind, source, writerFunc(func(b []byte) { last = string(b[:min(len(b), 1<<10)]) }))
		if err != nil || !strings.Contains(last, `"cells":["`+name+`"]`) {
			t.Errorf("%s: %v; the last event is %s", kind.Kind, err, last)
		}
		if kept := after - before; kept > 4<<20 {
			t.Errorf("%s: %d bytes are kept", kind.Kind, kept)
		}
	}
}

// Clients can name any number of kinds.
func TestTablesOfUnknownKindsAreNotKept(t *testing.T) {
	for kind := range builtin().scheme.AllKnownTypes() {
		body := `{"apiVersion":"v9","kind":"` + kind.Kind + `","metadata":{"namespace":"prod"}}`
		if _, _, err := testMapper().Request("application/json", kind, []byte(body)); err != nil {
			t.Error(err)
		}
		if _, kept := builtin().known.Load(kindOf("v9", kind.Kind)); kept {
			t.Errorf("%s is kept in any version", kind.Kind)
		}
	}
}

func TestTranslationsEndWhenTheyMayKeepNoMore(t *testing.T) {
	a := &account{limit: 1 << 20}
	m := testMapper().Counting(a.reserve)
	for _, test := range []func(io.Writer) error{
		func(w io.Writer) error {
			return m.Watch(podKind, strings.NewReader(`{"object":`+hugePod+`}`), w)
		},
		func(w io.Writer) error { return m.Response(podKind, false, strings.NewReader(hugePod), w) },
	} {
		if err := test(writerFunc(func([]byte) { t.Error("something is written") })); !errors.Is(err, errFull) || a.reserved != 0 {
			t.Errorf("got %v; %d bytes are still counted", err, a.reserved)
		}
	}
	small := strings.Repeat(`{"type":"ADDED","object":{"metadata":{"namespace":"acme-prod"},"x":"`+huge[:20<<10]+`"}}`+"\n", 10)
	m = testMapper().Counting(func(int64) (func(), error) { return nil, apierrors.NewTooManyRequests("full", 1) })
	if err := m.Watch(podKind, strings.NewReader(small), io.Discard); err != nil {
		t.Errorf("what is small is counted: %v", err)
	}
}
