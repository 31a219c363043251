package load

import (
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// serverSet are the fields of metadata that only the API server sets.
var serverSet = []string{
	"ownerReferences", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
}

// serverFields reports fields that only a cluster sets, and removes those that tools write without a value.
func serverFields(o *object.Object) *report.Error {
	var set []string
	metadata, _ := o.Object["metadata"].(map[string]any)
	for _, key := range serverSet {
		value, ok := metadata[key]
		if !ok {
			continue
		}
		if isEmpty(value) {
			delete(metadata, key)
			continue
		}
		set = append(set, "metadata."+key)
	}
	if isEmpty(o.Object["status"]) {
		delete(o.Object, "status")
	} else {
		set = append(set, "status")
	}
	if len(set) == 0 {
		return nil
	}
	return problem(o, report.IllegalField, set[0], "a repository must not set fields that only a cluster sets; remove %s", strings.Join(set, ", "))
}

// isEmpty reports whether a value is zero, or a collection of zero values.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		for _, child := range v {
			if !isEmpty(child) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case float64:
		return v == 0
	}
	return false
}
