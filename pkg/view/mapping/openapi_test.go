package mapping

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/openapi"
)

// The digest is written from Kubernetes' OpenAPI: go test -run OpenAPI -swagger
// KUBERNETES/api/openapi-spec/swagger.json
var swagger = flag.String("swagger", "", "write testdata/openapi.txt from this file")

const digest = "testdata/openapi.txt"

// Properties with these names may name a namespace, or a user of a ServiceAccount.
var (
	ofKubernetes = regexp.MustCompile(`(?i)namespace|^user(name)?s?$|^groups$`)
	ofOurs       = regexp.MustCompile(`(?i)namespace|^(parent|source|root|children|ancestors?|requiredChildren)$`)
)

// leftAlone are the properties that are not translated, and why.
var leftAlone = map[string]string{
	"io.k8s.api.admissionregistration.v1.*":                                   "absent from views",
	"io.k8s.api.admissionregistration.v1alpha1.*":                             "absent from views",
	"io.k8s.api.admissionregistration.v1beta1.*":                              "absent from views",
	"io.k8s.api.flowcontrol.v1.*":                                             "absent from views",
	"io.k8s.api.certificates.v1.CertificateSigningRequestSpec.*":              "absent from views",
	"io.k8s.api.networking.v1.ParentReference.namespace":                      "IPAddresses are absent from views",
	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.*":              "conversion webhooks are refused",
	"io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.*":                    "absent from views",
	"io.k8s.api.core.v1.NodeRuntimeHandlerFeatures.userNamespaces":            "of Linux",
	"io.k8s.api.core.v1.NodeSystemInfo.runningInUserNamespace":                "of Linux",
	"io.k8s.api.core.v1.PodSpec.shareProcessNamespace":                        "of Linux",
	"io.k8s.api.core.v1.ContainerStatus.user":                                 "of Linux",
	"io.k8s.api.core.v1.SELinuxOptions.user":                                  "of Linux",
	"io.k8s.api.core.v1.ClusterTrustBundleProjection.user":                    "of Linux",
	"io.k8s.api.core.v1.DownwardAPIVolumeFile.user":                           "of Linux",
	"io.k8s.api.core.v1.KeyToPath.user":                                       "of Linux",
	"io.k8s.api.core.v1.PodCertificateProjection.user":                        "of Linux",
	"io.k8s.api.core.v1.ServiceAccountTokenProjection.user":                   "of Linux",
	"io.k8s.api.core.v1.StorageOSPersistentVolumeSource.volumeNamespace":      "of StorageOS",
	"io.k8s.api.core.v1.StorageOSVolumeSource.volumeNamespace":                "of StorageOS",
	"io.k8s.api.core.v1.CephFSPersistentVolumeSource.user":                    "of the storage",
	"io.k8s.api.core.v1.CephFSVolumeSource.user":                              "of the storage",
	"io.k8s.api.core.v1.QuobyteVolumeSource.user":                             "of the storage",
	"io.k8s.api.core.v1.RBDPersistentVolumeSource.user":                       "of the storage",
	"io.k8s.api.core.v1.RBDVolumeSource.user":                                 "of the storage",
	"io.k8s.apimachinery.pkg.apis.meta.v1.APIResource.namespaced":             "no name",
	"io.k8s.apimachinery.pkg.apis.meta.v1.APIGroupList.groups":                "groups of the API",
	"io.x-k8s.hnc.v1beta1.HNCConfigurationSpec.subnamespaceNames":             "a rule of the cluster",
	"io.x-k8s.hnc.v1beta1.SubnamespaceSpec.namespaceAnnotations":              "annotations that are no references",
	"io.x-k8s.hnc.v1beta1.SubnamespaceSpec.namespaceLabels":                   "labels that are no references",
	"io.x-k8s.hnc.v1beta1.HierarchySpec.namespaceAnnotations":                 "annotations that are no references",
	"io.x-k8s.hnc.v1beta1.HierarchySpec.namespaceLabels":                      "labels that are no references",
	"io.x-k8s.hnc.v1beta1.HierarchicalResourceQuotaStatus.omittedNamespaces":  "a number",
	"io.x-k8s.hnc.v1beta1.Rules.*":                                            "rules of the cluster",
	"io.x-k8s.hnc.v1alpha3.PlanSummary.namespaces":                            "a number",
	"io.x-k8s.hnc.v1alpha3.RepositorySyncStatus.namespaces":                   "a number",
	"io.x-k8s.hnc.v1alpha3.RepositorySyncSpec.source":                         "a repository",
	"io.x-k8s.hnc.v1alpha3.RepositorySyncSpec.allowNonEmptyNamespaceDeletion": "no name",
}

func TestEveryNamespaceOfTheOpenAPIHasARule(t *testing.T) {
	if *swagger != "" {
		writeDigest(t)
	}
	text, err := os.ReadFile(digest)
	if err != nil {
		t.Fatal(err)
	}
	properties := strings.Fields(string(text))
	for name, definition := range openapi.GetOpenAPIDefinitions(spec.MustCreateRef) {
		for property := range definition.Schema.Properties {
			if strings.HasPrefix(name, "io.x-k8s.hnc.") && ofOurs.MatchString(property) {
				properties = append(properties, name+"."+property)
			}
		}
	}
	if len(properties) < 80 {
		t.Errorf("only %d properties", len(properties))
	}
	covered, used := coveredProperties(), map[string]bool{}
	for _, property := range properties {
		if covered[property] {
			continue
		}
		found := false
		for p := property; !found && strings.Contains(p, "."); p = p[:strings.LastIndex(p, ".")] {
			pattern := p + ".*"
			if p == property {
				pattern = p
			}
			if found = leftAlone[pattern] != ""; found {
				used[pattern] = true
			}
		}
		if !found {
			t.Errorf("%s is neither in the table of references nor left alone", property)
		}
	}
	for pattern := range leftAlone {
		if !used[pattern] {
			t.Errorf("%s is left alone, and not in the OpenAPI or in the table of references", pattern)
		}
	}
}

// coveredProperties returns the fields of all types of all kinds that the compiled table translates.
func coveredProperties() map[string]bool {
	covered := map[string]bool{}
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
			walk(t.Elem())
		case reflect.Struct:
			if seen[t] {
				return
			}
			seen[t] = true
			c := compiler{kind: schema.GroupKind{}, root: &node{}, types: map[reflect.Type]*node{}}
			compiled := c.compile(t, nil, false)
			rules := referencesOf(t)
			if named, ok := reflect.Zero(t).Interface().(interface{ OpenAPIModelName() string }); ok && compiled != nil {
				for field := range rules {
					if compiled.fields[field] != nil {
						covered[named.OpenAPIModelName()+"."+field] = true
					}
				}
				for field, n := range compiled.fields {
					// Fields that contain references of their own types.
					if n.fields != nil || n.items != nil {
						covered[named.OpenAPIModelName()+"."+field] = true
					}
				}
			}
			for i := range t.NumField() {
				walk(t.Field(i).Type)
			}
		}
	}
	for kind, object := range builtin().scheme.AllKnownTypes() {
		if kind.Version == runtime.APIVersionInternal {
			continue
		}
		if _, ok := reflect.New(object).Interface().(metav1.Object); ok {
			walk(object)
		}
	}
	return covered
}

func writeDigest(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(*swagger)
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Definitions map[string]struct {
			Properties map[string]struct{} `json:"properties"`
		} `json:"definitions"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for name, definition := range document.Definitions {
		for property := range definition.Properties {
			if ofKubernetes.MatchString(property) {
				lines = append(lines, name+"."+property)
			}
		}
	}
	sort.Strings(lines)
	if err := os.WriteFile(digest, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}
