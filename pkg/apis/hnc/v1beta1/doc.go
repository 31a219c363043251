// +k8s:openapi-gen=true
// +k8s:deepcopy-gen=package
// +k8s:conversion-gen=github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc
// +k8s:defaulter-gen=TypeMeta
// +groupName=hnc.x-k8s.io
// +k8s:openapi-model-package=io.x-k8s.hnc.v1beta1

// Package v1beta1 is the preferred and stored version of the hierarchy API.
package v1beta1
