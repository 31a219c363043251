package quota

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// expensive are quantities that take minutes to parse, or for ever.
var expensive = []string{`"1e-2147483647"`, `"12345678901234567890e1000000000"`, `"` + strings.Repeat("9", 500000) + `e1000000000"`}

// send sends a request to the API of hierarchies, and returns its error. One that takes too long fails.
func send(t *testing.T, u suite.User, verb, contentType, path, body string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request := u.HNC.HncV1beta1().RESTClient().Verb(verb).AbsPath("/apis/hnc.x-k8s.io/").Suffix(path).SetHeader("Content-Type", contentType)
	if contentType == string(types.ApplyYAMLPatchType) {
		request.Param("fieldManager", "test").Param("force", "true")
	}
	return request.Body([]byte(body)).Do(ctx).Error()
}

func TestQuantitiesThatAreExpensiveToParseAreRejected(t *testing.T) {
	tree(t, "parse-", "team")
	eve := editorIn(t, "parse-eve", "parse-team")
	suite.Eventually(t, "creating a quota as an editor", func() error { return limitAs(t, eve, "parse-team", "q", limits("pods=5")) })
	const name, current = `"name": "new"`, `"name": "q", "resourceVersion": "current"`
	// The last two are no numbers; the parser accepts one of them as 0.
	for i, number := range append(expensive, `1e-2147483647`, `"abc"`, `"-"`) {
		for _, version := range []string{"v1beta1", "v1alpha2"} {
			object := func(metadata, status string) string {
				return fmt.Sprintf(`{"apiVersion": "hnc.x-k8s.io/%s", "kind": "HierarchicalResourceQuota", "metadata": {%s}, "spec": {"hard": {"pods": %s}}%s}`, version, metadata, number, status)
			}
			quotas := version + "/namespaces/parse-team/hierarchicalresourcequotas"
			patch := fmt.Sprintf(`{"spec": {"hard": {"pods": %s}}}`, number)
			status := fmt.Sprintf(`, "status": {"used": {"pods": %s}}`, number)
			for _, request := range []struct{ verb, contentType, path, body string }{
				{http.MethodPost, runtime.ContentTypeJSON, quotas, object(name, status)},
				{http.MethodPost, runtime.ContentTypeYAML, quotas, object(name, "")},
				{http.MethodPut, runtime.ContentTypeJSON, quotas + "/q", object(current, status)},
				{http.MethodPatch, string(types.JSONPatchType), quotas + "/q", fmt.Sprintf(`[{"op": "replace", "path": "/spec/hard/pods", "value": %s}]`, number)},
				{http.MethodPatch, string(types.MergePatchType), quotas + "/q", patch},
				{http.MethodPatch, string(types.StrategicMergePatchType), quotas + "/q", patch},
				{http.MethodPatch, string(types.ApplyYAMLPatchType), quotas + "/q", object(`"name": "q"`, "")},
				{http.MethodPatch, string(types.ApplyYAMLPatchType), quotas + "/new", object(name, "")},
			} {
				if number[0] != '"' && request.contentType != runtime.ContentTypeJSON && request.contentType != string(types.JSONPatchType) {
					continue // It is decoded as a floating-point number first, and is zero.
				}
				if request.contentType == string(types.StrategicMergePatchType) && len(request.body) > 128<<10 {
					continue // It is too large to be decoded.
				}
				what := fmt.Sprintf("%d %s %s %s", i, request.verb, request.contentType, request.path)
				try := func() error {
					version := strconv.Quote(get(t, "parse-team", "q").ResourceVersion)
					return send(t, eve, request.verb, request.contentType, request.path, strings.Replace(request.body, `"current"`, version, 1))
				}
				err := try()
				for apierrors.IsConflict(err) { // The propagator has written its status.
					err = try()
				}
				if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "have at most 64 characters and an exponent of at most two digits") || !strings.Contains(err.Error(), "spec.hard[pods]") || len(err.Error()) > 1000 {
					t.Errorf("%s: got %.1000v", what, err)
				}
			}
		}
	}
}

// They are not stored, but they are decoded.
func TestQuantitiesInStatusAreNotParsedEither(t *testing.T) {
	tree(t, "parse-status-", "team")
	limit(t, "parse-status-team", "q", "pods=5")
	for i, number := range expensive {
		for _, version := range []string{"v1beta1", "v1alpha2"} {
			path := version + "/namespaces/parse-status-team/hierarchicalresourcequotas/q/status"
			for _, contentType := range []types.PatchType{types.MergePatchType, types.StrategicMergePatchType} {
				patch := fmt.Sprintf(`{"status": {"used": {"pods": %s}}}`, number)
				err := send(t, admin, http.MethodPatch, string(contentType), path, patch)
				if tooLarge := contentType == types.StrategicMergePatchType && len(patch) > 128<<10; (err != nil) != tooLarge {
					t.Errorf("%d %s %s: %.1000v", i, version, contentType, err)
				}
			}
		}
		plan := fmt.Sprintf(`{"apiVersion": "hnc.x-k8s.io/v1alpha3", "kind": "HierarchyPlan", "spec": {"change": "Parent"},
			"status": {"exceededQuotas": [{"namespace": "a", "name": "q", "resource": "pods", "used": %s, "moved": "1", "limit": "1"}]}}`, number)
		err := send(t, admin, http.MethodPost, runtime.ContentTypeJSON, "v1beta1/namespaces/parse-status-team/hierarchies/hierarchy/plan", plan)
		if (err != nil) != (len(plan) > 128<<10) {
			t.Errorf("%d: a plan: %.1000v", i, err)
		}
	}
	wantHard(t, "parse-status-team", "pods=5")
}
