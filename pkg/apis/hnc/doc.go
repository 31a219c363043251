// +k8s:deepcopy-gen=package
// +groupName=hnc.x-k8s.io

// Package hnc holds the hub types of the hierarchy API, and the names of its labels, annotations, conditions and
// events. The served versions convert to these types, and only the API server uses them.
//
// The hub has the same fields as v1beta1 and v1alpha3. It is a separate package because
//
//   - types without JSON tags are never served or stored by mistake;
//   - v1alpha2 converts to the hub instead of v1beta1, so a later version does not change v1alpha2;
//   - the storage layer of k8s.io/apiserver expects an internal version.
//
// It costs no time: the generated conversions to both cast pointers. The types are written by hand, as in
// Kubernetes, because no maintained generator makes them. If a field is missing, the generated conversions do not
// compile.
package hnc
