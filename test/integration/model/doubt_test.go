package model

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

// covers reports whether an object may have been overwritten.
func (d *doubt) covers(k key) bool {
	for ancestor := range d.above[k.space] {
		if d.ever[key{k.kind, ancestor, k.name}] {
			return true
		}
	}
	return false
}
