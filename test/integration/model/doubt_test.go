package model

import "testing"

// doubt knows which objects may have been overwritten by a copy. Whether they were depends on which of several
// operations the propagator has observed first: it watches namespaces, hierarchies, the configuration and each kind
// separately.
type doubt struct {
	// above are the ancestors that a namespace has had, ever the objects that there were, since all was certain.
	above map[string]map[string]bool
	ever  map[key]bool
	// consistent are the objects that were to be overwritten after one of the operations.
	consistent map[key]bool
}

func newDoubt() *doubt {
	return &doubt{above: map[string]map[string]bool{}, ever: map[key]bool{}, consistent: map[key]bool{}}
}

// note records a state.
func (d *doubt) note(w *world) {
	for name := range w.spaces {
		if d.above[name] == nil {
			d.above[name] = map[string]bool{}
		}
		chain, _ := w.chain(name)
		for _, ancestor := range chain {
			if ancestor != name {
				d.above[name][ancestor] = true
			}
		}
	}
	for k := range w.objects {
		d.ever[k] = true
		if w.overwritten(k) {
			d.consistent[k] = true
		}
	}
}

// covers reports whether an object may have been overwritten: by a copy, or as a RoleBinding that refers to a Role which
// another one from above has replaced.
func (d *doubt) covers(k key) bool {
	for ancestor := range d.above[k.space] {
		if d.ever[key{k.kind, ancestor, k.name}] || k.kind == roleBindings && d.ever[key{roles, ancestor, k.name}] {
			return true
		}
	}
	return false
}

func TestWhatMayHaveBeenOverwritten(t *testing.T) {
	for name, test := range map[string]struct {
		source, object key
		covered        bool
	}{
		"its kind above":            {key{configMaps, "root", "a"}, key{configMaps, "leaf", "a"}, true},
		"its kind below":            {key{configMaps, "leaf", "a"}, key{configMaps, "root", "a"}, false},
		"another kind":              {key{roles, "root", "a"}, key{configMaps, "leaf", "a"}, false},
		"the Role of a RoleBinding": {key{roles, "root", "a"}, key{roleBindings, "leaf", "a"}, true},
		"a RoleBinding, not a Role": {key{roleBindings, "root", "a"}, key{roles, "leaf", "a"}, false},
		"another Role":              {key{roles, "root", "b"}, key{roleBindings, "leaf", "a"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, d := family(), newDoubt()
			w.objects[test.source] = source{}
			d.note(w)
			delete(w.objects, test.source)
			d.note(w)
			if got := d.covers(test.object); got != test.covered {
				t.Errorf("covered: %t, want %t", got, test.covered)
			}
		})
	}
}
