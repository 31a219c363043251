package mynamespace

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/mynamespace/rbacindex"
)

var (
	someNames       = []string{"a", "b", "c", "d", "e"}
	ann             = rbacindex.Subject{Name: "ann"}
	devs            = rbacindex.Subject{Group: true, Name: "devs"}
	bob             = rbacindex.Subject{Name: "bob"}
	namespaceReader = rbacindex.Role{Name: "seer"}
	changingRole    = rbacindex.Role{Name: "fickle"}
)

func newTestCache() *Cache {
	p := NewCache()
	p.update(func() { p.access.SetRole(namespaceReader, rbacindex.Grant{All: true}) })
	p.setComplete()
	return p
}

// bind binds a role to subjects in a namespace, or in all namespaces.
func (c *Cache) bind(namespace, name string, role rbacindex.Role, subjects ...rbacindex.Subject) {
	c.update(func() {
		c.access.SetBinding(rbacindex.Binding{BindingKey: rbacindex.BindingKey{Namespace: namespace, Name: name}, Role: role, Subjects: subjects})
	})
}

func (c *Cache) unbind(namespace, name string) {
	c.update(func() { c.access.DeleteBinding(rbacindex.BindingKey{Namespace: namespace, Name: name}) })
}

// happen makes one random change.
func (c *Cache) happen(random *rand.Rand) {
	some := func() string { return someNames[random.IntN(len(someNames))] }
	switch n := random.IntN(20); {
	case n < 6:
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: some(), UID: types.UID(strconv.Itoa(random.IntN(2))),
			Labels: map[string]string{"color": []string{"red", "blue"}[random.IntN(2)]}}}
		c.setNamespace(ns)
	case n < 8:
		c.deleteNamespace(some())
	case n < 13:
		role := []rbacindex.Role{namespaceReader, changingRole}[random.IntN(2)]
		c.bind(some(), some(), role, slices.Repeat([]rbacindex.Subject{ann, devs, bob}, 2)[random.IntN(3):][:random.IntN(3)]...)
	case n < 17:
		c.unbind(some(), some())
	case n < 18:
		c.bind("", some(), []rbacindex.Role{namespaceReader, changingRole}[random.IntN(2)], []rbacindex.Subject{ann, devs, bob}[random.IntN(3)])
	case n < 19:
		c.unbind("", some())
	default:
		reach := []rbacindex.Grant{{}, {All: true}, {Names: []string{"a", "b"}}}[random.IntN(3)]
		c.update(func() { c.access.SetRole(changingRole, reach) })
	}
}

// client is the state that a reader derives from events.
type client struct {
	reader
	version int64
	known   map[string]*hnc.MyNamespace
	// everVisible holds the namespaces that the client has ever had access to.
	everVisible map[string]bool
	// resumed reports that the client resumed at version.
	resumed bool
}

// receive handles a random number of the events, all if cut is nil, and returns an error for an invalid one.
func (c *client) receive(p *Cache, cut *rand.Rand) error {
	events, latest, _, err := p.events(c.reader, c.version, c.resumed)
	if err != nil {
		return err
	}
	heard := len(events)
	if cut != nil {
		heard = cut.IntN(len(events) + 1)
	}
	last := c.version
	for _, e := range events[:heard] {
		event := e.watchEvent()
		o := event.Object.(*hnc.MyNamespace)
		version, err := strconv.ParseInt(o.ResourceVersion, 10, 64)
		if err != nil || version < last {
			return fmt.Errorf("version %s after %d", o.ResourceVersion, last)
		}
		last = version
		if !c.everVisible[o.Name] {
			return fmt.Errorf("%s of %s, which was never visible", event.Type, o.Name)
		}
		known, knows := c.known[o.Name]
		switch {
		case c.resumed: // it may have seen more than its version
		case knows == (event.Type == watch.Added):
			return fmt.Errorf("%s of %s, which it knows: %v", event.Type, o.Name, knows)
		case event.Type == watch.Modified && known.UID != o.UID:
			return fmt.Errorf("%s became another", o.Name)
		}
		if event.Type == watch.Deleted {
			delete(c.known, o.Name)
		} else {
			c.known[o.Name] = o
		}
	}
	c.version, c.resumed = latest, false
	if cut != nil {
		c.version, c.resumed = last, true
	}
	return nil
}

// compare compares the client's state with a list.
func (c *client) compare(p *Cache) error {
	listed, _ := p.list(c.reader)
	want := map[string]*hnc.MyNamespace{}
	for _, o := range listed {
		want[o.Name] = o
	}
	if !maps.EqualFunc(c.known, want, equal) {
		return fmt.Errorf("the client knows %v, the list is %v", slices.Sorted(maps.Keys(c.known)), slices.Sorted(maps.Keys(want)))
	}
	return nil
}

func readers() map[string]reader {
	all := func(*hnc.MyNamespace) bool { return true }
	red := func(o *hnc.MyNamespace) bool { return o.Labels["color"] == "red" }
	return map[string]reader{
		"ann":      {subjects: []rbacindex.Subject{ann, devs}, selects: all},
		"ann, red": {subjects: []rbacindex.Subject{ann, devs}, selects: red},
		"bob":      {subjects: []rbacindex.Subject{bob}, selects: all},
		"nobody":   {subjects: []rbacindex.Subject{{Name: "nobody"}}, selects: all},
		"root":     {subjects: rbacindex.SubjectsOf("root", []string{"system:masters"}), selects: all},
	}
}

// cutOff marks clients whose connections break at any moment.
const cutOff = ", cut off"

func TestWatchesConvergeToTheList(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		p := newTestCache()
		clients := map[string]*client{}
		for name, r := range readers() {
			for _, how := range []string{"", cutOff} {
				clients[name+how] = &client{reader: r, version: p.history.latest(), known: map[string]*hnc.MyNamespace{}, everVisible: map[string]bool{}}
			}
		}
		for step := range 100 {
			p.happen(random)
			for _, name := range slices.Sorted(maps.Keys(clients)) {
				c, when := clients[name], fmt.Sprintf("seed %d, step %d, %s", seed, step, name)
				for _, namespace := range someNames {
					c.everVisible[namespace] = c.everVisible[namespace] || p.access.Allows(c.subjects, namespace)
				}
				var cut *rand.Rand
				if strings.HasSuffix(name, cutOff) {
					cut = random
				}
				switch random.IntN(4) {
				case 0: // nothing yet
				case 1, 2:
					if err := c.receive(p, cut); err != nil {
						t.Fatalf("%s: %v", when, err)
					}
				case 3:
					if err := c.receive(p, nil); err != nil {
						t.Fatalf("%s: %v", when, err)
					}
					if err := c.compare(p); err != nil {
						t.Fatalf("%s: %v", when, err)
					}
				}
			}
		}
	}
}

// Between two accesses of a reader, a namespace of the name may have been somebody else's.
func TestALostNamespaceIsShownAsItWasWithAccessOnly(t *testing.T) {
	for name, c := range map[string]struct {
		before, between, after string
	}{
		"another one came afterwards":   {after: "secret"},
		"another one was there before":  {before: "secret", between: "mine"},
		"another one came, and changed": {between: "mine", after: "secret"},
	} {
		p := newTestCache()
		set := func(color string) {
			if color != "" {
				p.setNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: types.UID(color), Labels: map[string]string{"color": color}}})
			}
		}
		set(c.before)
		version := p.history.latest()
		if c.before != "" {
			p.deleteNamespace("a")
		}
		p.bind("a", "x", namespaceReader, ann)
		set(c.between)
		p.unbind("a", "x")
		if c.between != "" {
			p.deleteNamespace("a")
		}
		set(c.after)
		if c.after != "" {
			p.setNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: types.UID(c.after), Labels: map[string]string{"color": c.after, "more": "x"}}})
		}
		for selector, selects := range map[string]func(*hnc.MyNamespace) bool{
			"everything": func(*hnc.MyNamespace) bool { return true },
			"secret":     func(o *hnc.MyNamespace) bool { return o.Labels["color"] == "secret" },
			"nothing":    func(*hnc.MyNamespace) bool { return false },
		} {
			events, _, _, err := p.events(reader{subjects: []rbacindex.Subject{ann}, selects: selects}, version, true)
			if err != nil {
				t.Fatal(err)
			}
			if len(events) != 1 || events[0].what != watch.Deleted {
				t.Errorf("%s, selecting %s: %d events", name, selector, len(events))
			}
			for _, e := range events {
				event := e.watchEvent()
				if o := event.Object.(*hnc.MyNamespace); o.Name != "a" || o.Labels["color"] == "secret" || o.UID == "secret" {
					t.Errorf("%s, selecting %s: %s of %q with %v", name, selector, event.Type, o.UID, o.Labels)
				}
			}
		}
	}
}
