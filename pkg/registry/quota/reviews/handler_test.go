package reviews

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

type ledger struct {
	err      error
	reserved []string
}

func (l *ledger) Reserve(_ context.Context, old, _ *corev1.ResourceQuota) error {
	l.reserved = append(l.reserved, old.Namespace+"/"+old.Name)
	return l.err
}

// send sends a body to the handler, and returns the response.
func send(t *testing.T, l *ledger, ready error, body string) *httptest.ResponseRecorder {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1beta1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	h := &Handler{Ledger: l, Ready: func(*http.Request) error { return ready }, Serializer: serializer.NewCodecFactory(scheme), Next: http.NotFoundHandler()}
	info := &genericapirequest.RequestInfo{APIGroup: hnc.GroupName, APIVersion: "v1beta1", Resource: Resource, Verb: "create", IsResourceRequest: true}
	request := httptest.NewRequestWithContext(genericapirequest.WithRequestInfo(t.Context(), info), http.MethodPost, "/", strings.NewReader(body))
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	return recorder
}

func body(name, more string) string {
	rq := `{"metadata":{"name":"` + name + `","namespace":"a","resourceVersion":"1"},"status":{"used":{"pods":"1"}}}`
	return `{"request":{"uid":"u","name":"` + name + `","namespace":"a","operation":"UPDATE","subResource":"status","resource":{"version":"v1","resource":"resourcequotas"},` +
		more + `"oldObject":` + rq + `,"object":` + rq + `}}`
}

func TestReviews(t *testing.T) {
	full := forbidden()
	for _, test := range []struct {
		name, body string
		err        error
		allowed    bool
		reserved   int
	}{
		{"R1 other ResourceQuotas are allowed", body("mine", ""), full, true, 0},
		{"a dry run reserves nothing", body(hnc.ResourceQuotaName, `"dryRun":true,`), full, true, 0},
		{"a reservation", body(hnc.ResourceQuotaName, ""), nil, true, 1},
		{"a reservation with scopes", body(hnc.ResourceQuotaName+".abc", ""), nil, true, 1},
		{"a probe", strings.Replace(body(hnc.QuotaProbeName, `"dryRun":true,`), "UPDATE", "CREATE", 1), full, false, 0},
		{"more than the limit", body(hnc.ResourceQuotaName, ""), full, false, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := &ledger{err: test.err}
			recorder := send(t, l, nil, test.body)
			var review admissionv1.AdmissionReview
			if err := json.Unmarshal(recorder.Body.Bytes(), &review); err != nil || review.Response == nil {
				t.Fatalf("%d %s: %v", recorder.Code, recorder.Body, err)
			}
			if r := review.Response; r.Allowed != test.allowed || r.UID != "u" || len(l.reserved) != test.reserved {
				t.Errorf("got %+v, reserved %v", r, l.reserved)
			}
			if !test.allowed && (review.Response.Result.Code != http.StatusForbidden || test.reserved > 0 && review.Response.Result.Message != "full") {
				t.Errorf("got %+v", review.Response.Result)
			}
		})
	}
}

func TestBadReviews(t *testing.T) {
	for name, test := range map[string]struct {
		body  string
		ready error
		code  int
	}{
		"not JSON":               {"{", nil, http.StatusBadRequest},
		"no request":             {"{}", nil, http.StatusBadRequest},
		"no objects":             {`{"request":{"name":"hrq.hnc.x-k8s.io","operation":"UPDATE","subResource":"status","resource":{"resource":"resourcequotas"}}}`, nil, http.StatusBadRequest},
		"an object of elsewhere": {strings.Replace(body(hnc.ResourceQuotaName, ""), `"namespace":"a"`, `"namespace":"b"`, 1), nil, http.StatusBadRequest},
		"too large":              {`"` + strings.Repeat("x", maxBody), nil, http.StatusRequestEntityTooLarge},
		"not ready":              {body(hnc.ResourceQuotaName, ""), errors.New("not yet"), http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			l := &ledger{}
			if recorder := send(t, l, test.ready, test.body); recorder.Code != test.code || len(l.reserved) > 0 {
				t.Errorf("got %d %s, want %d; reserved %v", recorder.Code, recorder.Body, test.code, l.reserved)
			}
		})
	}
}

func forbidden() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "full"}}
}
