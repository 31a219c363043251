package cache

import "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"

// versions are the resource versions up to which watches have brought the state, by resource.
type versions map[string]string

// advance records up to which version the watch of a resource has brought the state.
func (v versions) advance(resource, version string) {
	if known, ok := v[resource]; !ok || tree.Newer(version, known) {
		v[resource] = version
	}
}

// rewind reports whether a list's version is before what the watch had brought, and if so goes back to it.
func (v versions) rewind(resource, version string) bool {
	known, ok := v[resource]
	if !ok || !tree.Newer(known, version) {
		return false
	}
	v[resource] = version
	return true
}

// ahead reports whether the result of our own write is newer than the watch. Once the watch has passed that version,
// the object may have been changed or deleted since, and the state shows that.
func (v versions) ahead(resource, version string) bool {
	known, ok := v[resource]
	return !ok || tree.Newer(version, known)
}
