package hnc

import "k8s.io/apimachinery/pkg/runtime/schema"

// APIService is the registration of a version of an API group at kube-apiserver.
type APIService struct {
	// Name is <version>.<group>.
	Name string
	// Server is the Service that serves it.
	Server string
	// Required is false if the version may be disabled.
	Required bool
}

// APIServices are the registrations of all versions that hns-apiserver serves, the preferred one first.
var APIServices = []APIService{
	{"v1beta1." + GroupName, APIServerName, true},
	{"v1alpha3." + GroupName, APIServerName, true},
	{"v1alpha2." + GroupName, APIServerName, false},
	{ResourcesGroupVersion.Version + "." + ResourcesGroupName, APIServerName, false},
}

// ViewAPIService is the registration of hns-gateway, which is optional.
var ViewAPIService = APIService{ViewGroupVersion.Version + "." + ViewGroupVersion.Group, GatewayName, false}

// The resources of Kubernetes that register kinds.
var (
	CRDResource        = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	APIServiceResource = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
)
