package main

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// The functions of this file say whether an object, nil if there is none, is as wanted.

func exists(o *unstructured.Unstructured) bool { return o != nil }
func gone(o *unstructured.Unstructured) bool   { return o == nil }

// labelled wants a label of any value.
func labelled(key string) func(*unstructured.Unstructured) bool {
	return func(o *unstructured.Unstructured) bool { return o != nil && o.GetLabels()[key] != "" }
}

func unlabelled(key string) func(*unstructured.Unstructured) bool {
	return func(o *unstructured.Unstructured) bool { return o != nil && o.GetLabels()[key] == "" }
}

func conflicting(o *unstructured.Unstructured) bool {
	if o == nil {
		return false
	}
	state, _, _ := unstructured.NestedString(o.Object, "status", "state")
	return state == "Conflict"
}

func terminating(o *unstructured.Unstructured) bool {
	return o != nil && o.GetDeletionTimestamp() != nil
}

var ready = condition("Ready")

// condition wants a condition of the type that is true.
func condition(of string) func(*unstructured.Unstructured) bool {
	return func(o *unstructured.Unstructured) bool {
		if o == nil {
			return false
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range conditions {
			if c, ok := c.(map[string]any); ok && c["type"] == of && c["status"] == "True" {
				return true
			}
		}
		return false
	}
}
