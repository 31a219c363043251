package admissionpolicy

import (
	"bufio"
	"bytes"
	"embed"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// kustomization lists the manifests for kubectl and is not a manifest itself.
const kustomization = "kustomization.yaml"

//go:embed *.yaml propagator/*.yaml
var manifests embed.FS

// manifestFiles returns the files with policies and bindings.
func manifestFiles(t *testing.T) []string {
	t.Helper()
	files, err := fs.Glob(manifests, "*.yaml")
	bounds, boundsErr := fs.Glob(manifests, "*/*.yaml")
	if err := errors.Join(err, boundsErr); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(append(files, bounds...), func(file string) bool { return path.Base(file) == kustomization })
}

// objects returns the policies and bindings in manifests, without the defaults that kube-apiserver sets. The test fails
// for an unknown field or kind.
func objects(t *testing.T, files ...string) []runtime.Object {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := admissionregistrationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	var objects []runtime.Object
	for _, file := range files {
		data, err := manifests.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found, err := decode(decoder, data)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		objects = append(objects, found...)
	}
	return objects
}

// decode returns the objects of a file with several documents.
func decode(decoder runtime.Decoder, data []byte) ([]runtime.Object, error) {
	var objects []runtime.Object
	for reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		object, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
}

func TestAllPoliciesAndBindingsAreNamed(t *testing.T) {
	names := map[string][]string{}
	for _, object := range objects(t, manifestFiles(t)...) {
		kind := object.GetObjectKind().GroupVersionKind().Kind
		names[kind] = append(names[kind], object.(metav1.Object).GetName())
	}
	for kind, listed := range map[string][]string{"ValidatingAdmissionPolicy": Validating(), "MutatingAdmissionPolicy": Mutating()} {
		for _, kind := range []string{kind, kind + "Binding"} {
			slices.Sort(names[kind])
			if !slices.Equal(names[kind], listed) {
				t.Errorf("%s: the manifests have %v, listed are %v", kind, names[kind], listed)
			}
		}
	}
}

// The base, which lets hns-propagator delete CustomResourceDefinitions, has the policy that bounds that, in the chart
// with any values.
func TestBaseBoundsThePropagator(t *testing.T) {
	var base struct{ Resources []string }
	data, err := os.ReadFile("../../artifacts/base/kustomization.yaml")
	if err == nil {
		err = yaml.Unmarshal(data, &base)
	}
	if err != nil || !slices.Contains(base.Resources, "../../pkg/admissionpolicy/propagator") {
		t.Errorf("artifacts/base has %v, %v", base.Resources, err)
	}
	chart, err := os.ReadFile("../../artifacts/chart/templates/policies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	unconditional, _, _ := strings.Cut(string(chart), "{{- if ")
	if strings.Count(unconditional, "\n  name: "+Propagator+"\n") != 2 {
		t.Errorf("the chart has the policy or its binding under a condition")
	}
}
