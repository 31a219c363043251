package cli

import (
	"errors"
	"io"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
)

// clientsOf returns clients of a cluster that contains a namespace and objects of ours.
func clientsOf(t *testing.T, namespace metav1.ObjectMeta, objects ...runtime.Object) (*Clients, *fake.Clientset) {
	t.Helper()
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	of := metadatafake.NewSimpleMetadataClient(scheme, &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Namespace"}, ObjectMeta: namespace,
	})
	ours := fake.NewSimpleClientset(objects...)
	return &Clients{Hierarchy: ours, metadata: of, namespaces: of.Resource(NamespaceResource)}, ours
}

func TestOnlyADeletedSubnamespaceLosesItsProtection(t *testing.T) {
	for name, test := range map[string]struct {
		exists, void bool
		of           string
		want         string
	}{
		"a sub-namespace":              {true, false, "shop", ""},
		"no Subnamespace":              {false, false, "shop", "not found"},
		"a sub-namespace of another":   {true, false, "other", "namespace cart is not a sub-namespace of shop"},
		"a full namespace":             {true, true, "", "namespace cart is not a sub-namespace of shop"},
		"one that has become full":     {true, true, "shop", "namespace cart is not a sub-namespace of shop"},
		"a Subnamespace in a conflict": {true, false, "", "namespace cart is not a sub-namespace of shop"},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := metav1.ObjectMeta{Name: "cart"}
			if test.of != "" {
				namespace.Annotations = map[string]string{hnc.AnnotationSubnamespaceOf: test.of}
			}
			var objects []runtime.Object
			if test.exists {
				sub := &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"}}
				if test.void {
					sub.Annotations = map[string]string{hnc.AnnotationVoid: "true"}
				}
				objects = append(objects, sub)
			}
			clients, ours := clientsOf(t, namespace, objects...)
			o := &deleteOptions{IOStreams: genericiooptions.NewTestIOStreamsDiscard(), child: "cart", parent: "shop", cascade: true, dryRun: "none"}
			err := o.delete(t.Context(), clients)
			_, missing := ours.HncV1beta1().Hierarchies("cart").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) || (missing == nil) != (test.want == "") {
				t.Errorf("got %v, and the hierarchy: %v", err, missing)
			}
		})
	}
}

func TestFailedDeletionSaysWhatStays(t *testing.T) {
	clients, ours := clientsOf(t, metav1.ObjectMeta{Name: "cart", Annotations: map[string]string{hnc.AnnotationSubnamespaceOf: "shop"}},
		&v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"}})
	ours.PrependReactor("delete", "subnamespaces", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("denied") })
	o := &deleteOptions{IOStreams: genericiooptions.IOStreams{Out: io.Discard}, child: "cart", parent: "shop", cascade: true, dryRun: "none"}
	if err := o.delete(t.Context(), clients); err == nil || !strings.Contains(err.Error(), "Cascading deletion of cart stays allowed.") {
		t.Errorf("got %v", err)
	}
}
