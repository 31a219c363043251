package preview

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// compare appends the paths at which two values differ. Lists are compared as a whole.
func compare(path string, before, after any, paths *[]string) {
	old, isMap := before.(map[string]any)
	current, both := after.(map[string]any)
	if !isMap || !both {
		if !reflect.DeepEqual(before, after) {
			*paths = append(*paths, path)
		}
		return
	}
	keys := slices.Collect(maps.Keys(old))
	for key := range current {
		if _, ok := old[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		compare(join(path, key), old[key], current[key], paths)
	}
}

// join appends a key to a path. Keys with dots, such as those of labels, are in brackets.
func join(path, key string) string {
	switch {
	case strings.ContainsAny(key, "./"):
		return path + "[" + key + "]"
	case path == "":
		return key
	}
	return path + "." + key
}
