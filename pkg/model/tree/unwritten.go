package tree

// SetUnwritten records why the labels or annotations of a namespace could not be written, "" if they could. The first
// reason stays until then, even if the server's words differ each time.
func (t *Tree) SetUnwritten(namespace, why string) Affected {
	if t.namespaces[namespace] == nil || (t.unwritten[namespace] == "") == (why == "") {
		return Affected{}
	}
	if why == "" {
		delete(t.unwritten, namespace)
	} else {
		t.unwritten[namespace] = why
	}
	return Affected{Changed: []string{namespace}}
}

// Unwritten returns that reason.
func (t *Tree) Unwritten(namespace string) string { return t.unwritten[namespace] }
