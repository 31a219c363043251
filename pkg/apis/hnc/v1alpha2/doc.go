// +k8s:openapi-gen=true
// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
// +groupName=hnc.x-k8s.io
// +k8s:openapi-model-package=io.x-k8s.hnc.v1alpha2

// Package v1alpha2 is the API version of the retired Hierarchical Namespace Controller, served from the same objects
// as v1beta1.
package v1alpha2
