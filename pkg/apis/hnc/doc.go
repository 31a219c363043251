// +k8s:deepcopy-gen=package
// +groupName=hnc.x-k8s.io

// Package hnc holds the hub types of the hierarchy API, and the names of its labels, annotations, conditions and
// events. Both served versions convert to these types; nothing but the API server uses the types themselves.
package hnc
