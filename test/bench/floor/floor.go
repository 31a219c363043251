// Package floor is a minimal aggregated API server: Hierarchies in a group of their own, which are stored in etcd and
// do nothing. What a request to it costs is the least that a request to an aggregated API can cost.
package floor

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/apiserver/pkg/util/compatibility"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	generatedopenapi "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/openapi"
)

// GroupVersion is that of the resource.
var GroupVersion = schema.GroupVersion{Group: "floor.bench.example.com", Version: "v1"}

// Resource is the name of the resource, in the plural.
const Resource = "hierarchies"

// Config is what a server needs.
type Config struct {
	// Kubeconfig authenticates to kube-apiserver.
	Kubeconfig string
	// CertFile and KeyFile are those of the server's certificate.
	CertFile, KeyFile string
	// Endpoints are etcd's; the files those to authenticate to it.
	Endpoints                         []string
	EtcdCA, EtcdCertFile, EtcdKeyFile string
	// Port is the one on the loopback interface.
	Port int
}

var scheme = runtime.NewScheme()

func init() {
	for _, version := range []schema.GroupVersion{GroupVersion, {Group: GroupVersion.Group, Version: runtime.APIVersionInternal}} {
		scheme.AddKnownTypes(version, &v1beta1.Hierarchy{}, &v1beta1.HierarchyList{})
	}
	metav1.AddToGroupVersion(scheme, GroupVersion)
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	scheme.AddUnversionedTypes(schema.GroupVersion{Version: "v1"},
		&metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
	utilruntime.Must(scheme.SetVersionPriority(GroupVersion))
}

// Run serves until the context ends.
func Run(ctx context.Context, c Config) error {
	codecs := serializer.NewCodecFactory(scheme)
	o := genericoptions.NewRecommendedOptions("/registry/"+GroupVersion.Group, codecs.LegacyCodec(GroupVersion))
	o.Etcd.StorageConfig.Transport.ServerList = c.Endpoints
	o.Etcd.StorageConfig.Transport.TrustedCAFile = c.EtcdCA
	o.Etcd.StorageConfig.Transport.CertFile, o.Etcd.StorageConfig.Transport.KeyFile = c.EtcdCertFile, c.EtcdKeyFile
	o.SecureServing.BindAddress, o.SecureServing.BindPort = []byte{127, 0, 0, 1}, c.Port
	o.SecureServing.ServerCert.CertKey.CertFile, o.SecureServing.ServerCert.CertKey.KeyFile = c.CertFile, c.KeyFile
	o.Authentication.RemoteKubeConfigFile, o.Authorization.RemoteKubeConfigFile, o.CoreAPI.CoreAPIKubeconfigPath = c.Kubeconfig, c.Kubeconfig, c.Kubeconfig
	o.Admission, o.Audit, o.Features.EnablePriorityAndFairness = nil, nil, false

	config := genericapiserver.NewRecommendedConfig(codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	namer := openapi.NewDefinitionNamer(scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(generatedopenapi.GetOpenAPIDefinitions, namer)
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(generatedopenapi.GetOpenAPIDefinitions, namer)
	if err := o.ApplyTo(config); err != nil {
		return err
	}
	// kube-apiserver has authorized what it forwards; another review would cost more than the rest.
	config.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	config.ShutdownWatchTerminationGracePeriod = time.Second
	server, err := config.Complete().New("floor", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return err
	}
	store := &registry.Store{
		NewFunc:                   func() runtime.Object { return &v1beta1.Hierarchy{} },
		NewListFunc:               func() runtime.Object { return &v1beta1.HierarchyList{} },
		DefaultQualifiedResource:  schema.GroupResource{Group: GroupVersion.Group, Resource: Resource},
		SingularQualifiedResource: schema.GroupResource{Group: GroupVersion.Group, Resource: "hierarchy"},
		CreateStrategy:            strategy{scheme, names.SimpleNameGenerator},
		UpdateStrategy:            strategy{scheme, names.SimpleNameGenerator},
		DeleteStrategy:            strategy{scheme, names.SimpleNameGenerator},
		TableConvertor:            rest.NewDefaultTableConvertor(schema.GroupResource{Group: GroupVersion.Group, Resource: Resource}),
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: config.RESTOptionsGetter}); err != nil {
		return err
	}
	group := genericapiserver.NewDefaultAPIGroupInfo(GroupVersion.Group, scheme, metav1.ParameterCodec, codecs)
	group.VersionedResourcesStorageMap[GroupVersion.Version] = map[string]rest.Storage{Resource: store}
	if err := server.InstallAPIGroup(&group); err != nil {
		return fmt.Errorf("install %s: %w", GroupVersion, err)
	}
	return server.PrepareRun().RunWithContext(ctx)
}
