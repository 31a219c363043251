// +k8s:openapi-gen=true
// +k8s:deepcopy-gen=package
// +k8s:conversion-gen=github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc
// +k8s:defaulter-gen=TypeMeta
// +groupName=hnc.x-k8s.io
// +k8s:openapi-model-package=io.x-k8s.hnc.v1alpha3

// Package v1alpha3 contains the kinds that may still change, and the bodies of the subresources of v1beta1.
package v1alpha3
