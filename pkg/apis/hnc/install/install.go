// Package install registers all versions of the hierarchy API.
package install

import (
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Install adds the hub and the served versions to a scheme: v1beta1 (preferred), v1alpha3 and v1alpha2.
func Install(scheme *runtime.Scheme) {
	utilruntime.Must(hnc.AddToScheme(scheme))
	utilruntime.Must(v1beta1.AddToScheme(scheme))
	utilruntime.Must(v1alpha3.AddToScheme(scheme))
	utilruntime.Must(v1alpha2.AddToScheme(scheme))
	utilruntime.Must(scheme.SetVersionPriority(v1beta1.SchemeGroupVersion, v1alpha3.SchemeGroupVersion, v1alpha2.SchemeGroupVersion))
}

// InstallStored adds everything that etcd may contain to a scheme: the served versions, and the kinds of v1alpha3 as
// v1beta1, which earlier builds stored them as.
func InstallStored(scheme *runtime.Scheme) {
	Install(scheme)
	scheme.AddKnownTypes(v1beta1.SchemeGroupVersion, v1alpha3.Stored()...)
}
