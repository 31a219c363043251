package mynamespace

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/mynamespace/rbacindex"
)

// large is 10 000 namespaces with 50 000 bindings: five roles of each namespace, to three subjects each. Every tenth
// namespace has its own users.
func large() *Cache {
	p := newTestCache()
	for i := range 10_000 {
		name := fmt.Sprintf("namespace-%05d", i)
		p.setNamespace(namespace(name, map[string]string{hnc.TreeLabel(name): "0", hnc.TreeLabel("root"): "1"}))
		for j := range 5 {
			p.bind(name, fmt.Sprintf("binding-%d", j), namespaceReader,
				rbacindex.Subject{Name: fmt.Sprintf("user-%d", i%1000*5+j)}, rbacindex.Subject{Group: true, Name: fmt.Sprintf("group-%d", i%100)},
				rbacindex.Subject{Name: fmt.Sprintf("system:serviceaccount:%s:robot", name)})
		}
	}
	return p
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		before := heap()
		p := large()
		all := heap() - before
		p.history.reset()
		b.ReportMetric(float64(all)/1e6, "MB")
		b.ReportMetric(float64(heap()-before)/1e6, "MB-without-history")
		runtime.KeepAlive(p)
	}
}

func BenchmarkList(b *testing.B) {
	p := large()
	everything := func(*hnc.MyNamespace) bool { return true }
	for name, subject := range map[string]rbacindex.Subject{
		"of-10": {Name: "user-7"}, "of-100": {Group: true, Name: "group-7"}, "of-10000": {Group: true, Name: "system:masters"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p.list(reader{subjects: []rbacindex.Subject{subject}, selects: everything})
			}
		})
	}
}

// The cost of a change for each watcher, concerned or not.
func BenchmarkChangePerWatcher(b *testing.B) {
	p := large()
	for name, subject := range map[string]rbacindex.Subject{"concerned": {Name: "user-7"}, "not-concerned": {Name: "nobody"}} {
		b.Run(name, func(b *testing.B) {
			r := reader{subjects: []rbacindex.Subject{subject}, selects: func(*hnc.MyNamespace) bool { return true }}
			_, version := p.list(r)
			p.bind("namespace-00500", "new", namespaceReader, rbacindex.Subject{Name: "user-7"})
			for b.Loop() {
				if _, _, _, err := p.events(r, version, false); err != nil {
					b.Fatal(err)
				}
			}
			p.unbind("namespace-00500", "new")
		})
	}
}

func BenchmarkBindingChange(b *testing.B) {
	p := large()
	for b.Loop() {
		p.bind("namespace-00500", "new", namespaceReader, rbacindex.Subject{Name: "user-7"})
		p.unbind("namespace-00500", "new")
	}
}
