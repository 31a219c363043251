package hnc

// APIService is the registration of a version of an API group at kube-apiserver.
type APIService struct {
	// Name is <version>.<group>.
	Name string
	// Required is false if the version may be disabled.
	Required bool
}

// APIServices are the registrations of all versions that hns-apiserver serves, the preferred one first.
var APIServices = []APIService{
	{"v1beta1." + GroupName, true},
	{"v1alpha3." + GroupName, true},
	{"v1alpha2." + GroupName, false},
	{ResourcesGroupVersion.Version + "." + ResourcesGroupName, false},
}
