package mapping

import "strings"

// countPrefix begins the resources of quotas that are numbers of objects, such as count/widgets.example.com.
const countPrefix = "count/"

var (
	countNode  = &node{text: (*translation).count}
	countsNode = &node{pairs: pairsOf(nil, func(t *translation, key, value string) (string, string, bool) { return t.count(key), value, true })}
)

// count translates the group in a resource of a quota.
func (t *translation) count(resource string) string {
	counted, ok := strings.CutPrefix(resource, countPrefix)
	if !ok {
		return resource
	}
	name, group, ok := strings.Cut(counted, ".")
	if !ok {
		return resource
	}
	return countPrefix + name + "." + t.group(group)
}

// uses translates "count/widgets.example.com: 1/2, pods: 3/4", a column of the tables of quotas.
func (t *translation) uses(s string) string {
	return t.split(s, ", ", func(use string) (string, bool) {
		if resource, rest, ok := strings.Cut(use, ": "); ok {
			use = t.count(resource) + ": " + rest
		}
		return use, false
	})
}
