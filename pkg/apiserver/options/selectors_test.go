package options

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes/scheme"
)

// Reviews are cached by their text: thousands of them must not have selectors of kilobytes.
func TestReviewsHaveNoLargeSelectors(t *testing.T) {
	var got *authorizationv1.ResourceAttributes
	reviews := reviewedBy(t, clusterOf(t, nil, nil), func(spec authorizationv1.SubjectAccessReviewSpec) bool {
		got = spec.ResourceAttributes
		return true
	})
	parse := func(selector string) labels.Requirements {
		parsed, err := labels.Parse(selector)
		if err != nil {
			t.Fatal(err)
		}
		requirements, _ := parsed.Requirements()
		return requirements
	}
	many := ""
	for i := range 100 {
		many += fmt.Sprintf("abcdefghij%d,", i)
	}
	for name, test := range map[string]struct {
		attributes authorizer.AttributesRecord
		kept       bool
	}{
		"small":  {authorizer.AttributesRecord{LabelSelectorRequirements: parse("team=a,!b"), FieldSelectorRequirements: fields.ParseSelectorOrDie("metadata.name=a").Requirements()}, true},
		"keys":   {authorizer.AttributesRecord{LabelSelectorRequirements: parse(many + "z")}, false},
		"values": {authorizer.AttributesRecord{LabelSelectorRequirements: parse("a in (" + many + "z)")}, false},
		"fields": {authorizer.AttributesRecord{FieldSelectorRequirements: fields.ParseSelectorOrDie("metadata.name=" + strings.Repeat("x", 1<<10)).Requirements()}, false},
	} {
		a := test.attributes
		a.User, a.Verb, a.Resource, a.Namespace, a.ResourceRequest = &user.DefaultInfo{Name: name}, "list", "pods", "team-a", true
		decision, _, err := reviews.Authorize(t.Context(), a)
		if err != nil || decision != authorizer.DecisionAllow || got.Namespace != "team-a" || got.Verb != "list" {
			t.Fatalf("%s: decision %v, error %v, reviewed %v", name, decision, err, got)
		}
		if kept := got.LabelSelector != nil || got.FieldSelector != nil; kept != test.kept {
			t.Errorf("%s: reviewed with a selector: %t", name, kept)
		}
	}
}

// reviewedBy returns an authorizer of a cluster that allows what a function allows.
func reviewedBy(t *testing.T, present *namespaces, allows func(authorizationv1.SubjectAccessReviewSpec) bool) authorizer.Authorizer {
	t.Helper()
	cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var review authorizationv1.SubjectAccessReview
		if _, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, &review); err != nil {
			t.Error(err)
		}
		review.Status.Allowed = allows(review.Spec)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(&review)
	}))
	t.Cleanup(cluster.Close)
	o := genericoptions.NewDelegatingAuthorizationOptions()
	o.RemoteKubeConfigFile = filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(o.RemoteKubeConfigFile, []byte(`{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":"`+cluster.URL+`"}}],`+
		`"contexts":[{"name":"c","context":{"cluster":"c"}}],"current-context":"c"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	reviews, err := delegatingAuthorizer(o, present)
	if err != nil {
		t.Fatal(err)
	}
	return reviews
}
