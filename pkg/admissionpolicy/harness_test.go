package admissionpolicy

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/openapi/openapitest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const (
	restorer            = "restorer"
	quotaController     = "quota-controller"
	synchronizer        = "synchronizer"
	hierarchyAdmin      = "hierarchy-admin"
	treeAdmin           = "tree-admin"
	namespaceController = "namespace-controller"
	namespaceAdmin      = "namespace-admin"
)

// permission is one that a user has. Without a namespace, it is that in all namespaces.
type permission struct{ user, verb, group, resource, subresource, namespace, name string }

// permissions are all that users have.
var permissions = []permission{
	{restorer, "restore", hnc.GroupName, "hierarchies", "", "", ""},
	{quotaController, "update", "", "resourcequotas", "status", "", ""},
	{synchronizer, "use", hnc.GroupName, "repositorysyncs", "", "", "policy"},
	// The old name of hierarchies is as good.
	{hierarchyAdmin, "update", hnc.GroupName, "hierarchyconfigurations", "", "team-a", ""},
	{treeAdmin, "update", hnc.GroupName, "hierarchyconfigurations", "", "team-a", ""},
	{treeAdmin, "update", hnc.GroupName, "hierarchyconfigurations", "", "acme", ""},
	{namespaceController, "delete", "", "namespaces", "", "ending", "ending"},
	{namespaceAdmin, "update", "", "namespaces", "", "", ""},
}

// request is a write as admission receives it: object is nil for a deletion, old for a creation.
type request struct {
	// user defaults to alice, who has no permissions.
	user        string
	groups      []string
	object, old runtime.Object
	subresource string
	// manager is the field manager.
	manager string
	// collection reports that the object is deleted with a collection, by a request that does not name it.
	collection bool
}

func (r request) operation() admission.Operation {
	switch {
	case r.old == nil:
		return admission.Create
	case r.object == nil:
		return admission.Delete
	}
	return admission.Update
}

func (r request) options() runtime.Object {
	if r.operation() == admission.Update {
		return &metav1.PatchOptions{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PatchOptions"}, FieldManager: r.manager}
	}
	return nil
}

// admissionChain runs kube-apiserver's mutating and validating policy plugins on the given policies.
type admissionChain struct {
	mutating   *mutating.Plugin
	validating *validating.Plugin
}

// newAdmissionChain returns once the policies are effective in a server with the known namespaces.
func newAdmissionChain(t *testing.T, policies []runtime.Object) *admissionChain {
	t.Helper()
	objects := slices.Clone(policies)
	for _, namespace := range knownNamespaces() {
		objects = append(objects, namespace)
	}
	client := clientWithSchemas{fake.NewClientset(objects...)}
	factory := informers.NewSharedInformerFactory(client, 0)

	chain := &admissionChain{}
	var err error
	if chain.mutating, err = mutating.NewPlugin(nil); err != nil {
		t.Fatal(err)
	}
	if chain.validating, err = validating.NewPlugin(nil); err != nil {
		t.Fatal(err)
	}
	type plugin interface {
		admission.InitializationValidator
		SetEnabled(bool)
		SetDrainedNotification(<-chan struct{})
		SetExternalKubeClientSet(kubernetes.Interface)
		SetDynamicClient(dynamic.Interface)
		SetExternalKubeInformerFactory(informers.SharedInformerFactory)
		SetUnconditionalAuthorizer(authorizer.UnconditionalAuthorizer)
		SetRESTMapper(meta.RESTMapper)
	}
	for _, p := range []plugin{chain.mutating, chain.validating} {
		p.SetEnabled(true)
		p.SetDrainedNotification(t.Context().Done())
		p.SetExternalKubeClientSet(client)
		p.SetDynamicClient(dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()))
		p.SetExternalKubeInformerFactory(factory)
		p.SetUnconditionalAuthorizer(authorizer.AuthorizerFunc(authorize))
		p.SetRESTMapper(meta.NewDefaultRESTMapper(nil))
		if err := p.ValidateInitialization(); err != nil {
			t.Fatal(err)
		}
	}
	factory.Start(t.Context().Done())
	if !chain.mutating.WaitForReady() || !chain.validating.WaitForReady() {
		t.Fatal("the admission plugins don't get ready")
	}
	// The mutating plugin has to fetch the schemas of the kinds.
	var last error
	if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		_, last = chain.admit(ctx, request{object: namespace("probe")})
		return last == nil, nil
	}); err != nil {
		t.Fatalf("%v; last error: %v", err, last)
	}
	return chain
}

// admit returns the object as it would be stored, or the error of the request.
func (c *admissionChain) admit(ctx context.Context, r request) (runtime.Object, error) {
	subject := r.object
	if subject == nil {
		subject = r.old
	}
	accessor, err := meta.Accessor(subject)
	if err != nil {
		return nil, err
	}
	namespace, name := accessor.GetNamespace(), accessor.GetName()
	kind := subject.GetObjectKind().GroupVersionKind()
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	if kind.Kind == "Namespace" {
		// as in kube-apiserver
		namespace = name
	}
	if r.collection {
		name = ""
	}
	if r.object != nil {
		r.object = r.object.DeepCopyObject()
	}
	if r.user == "" {
		r.user = "alice"
	}
	attributes := admission.NewAttributesRecord(r.object, r.old, kind, namespace, name, resource, r.subresource,
		r.operation(), r.options(), false, &user.DefaultInfo{Name: r.user, Groups: r.groups})
	interfaces := admission.NewObjectInterfacesFromScheme(scheme.Scheme)
	if c.mutating.Handles(r.operation()) {
		if err := c.mutating.Admit(ctx, attributes, interfaces); err != nil {
			return nil, err
		}
	}
	return attributes.GetObject(), c.validating.Validate(ctx, attributes, interfaces)
}

func authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	needed := permission{a.GetUser().GetName(), a.GetVerb(), a.GetAPIGroup(), a.GetResource(), a.GetSubresource(), a.GetNamespace(), a.GetName()}
	if a.IsResourceRequest() && slices.Contains(permissions, needed) {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// installed returns the policies of manifests as stored by kube-apiserver, with defaults.
func installed(t *testing.T, files ...string) []runtime.Object {
	t.Helper()
	objects := objects(t, files...)
	for _, object := range objects {
		switch o := object.(type) {
		case *admissionregistrationv1.ValidatingAdmissionPolicy:
			setDefaults(o.Spec.MatchConstraints)
		case *admissionregistrationv1.MutatingAdmissionPolicy:
			setDefaults(o.Spec.MatchConstraints)
		case *admissionregistrationv1.ValidatingAdmissionPolicyBinding, *admissionregistrationv1.MutatingAdmissionPolicyBinding:
		default:
			t.Fatal(errors.New("unexpected object"), object.GetObjectKind().GroupVersionKind())
		}
	}
	return objects
}

func setDefaults(match *admissionregistrationv1.MatchResources) {
	if match.NamespaceSelector == nil {
		match.NamespaceSelector = &metav1.LabelSelector{}
	}
	if match.ObjectSelector == nil {
		match.ObjectSelector = &metav1.LabelSelector{}
	}
	if match.MatchPolicy == nil {
		equivalent := admissionregistrationv1.Equivalent
		match.MatchPolicy = &equivalent
	}
}

// clientWithSchemas is a fake client with the schemas of built-in kinds, which mutations require.
type clientWithSchemas struct{ *fake.Clientset }

func (c clientWithSchemas) Discovery() discovery.DiscoveryInterfaces {
	return schemas{c.Clientset.Discovery()}
}

type schemas struct{ discovery.DiscoveryInterfaces }

func (schemas) OpenAPIV3() openapi.Client { return openapitest.NewEmbeddedFileClient() }
