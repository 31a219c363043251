// Package reviews serves the admission reviews with which kube-apiserver's quota admission asks for use of
// hierarchical quotas: writes of the status of ResourceQuotas of ours that increase it. kube-apiserver sends them to
// itself, with its own identity, and forwards them as requests for this resource, so they are authenticated and
// authorized like any request.
package reviews

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
)

// Resource is the resource to which kube-apiserver sends the reviews. Nothing is stored.
const Resource = "quotareservations"

// Ledger reserves use.
type Ledger interface {
	// Reserve reserves the use that a write adds. It fails with Forbidden if the use would exceed a limit.
	Reserve(ctx context.Context, old, updated *corev1.ResourceQuota) error
}

// Handler serves requests to create quotareservations. Next serves all other requests.
type Handler struct {
	Ledger Ledger
	// Ready returns an error while use cannot be reserved yet.
	Ready      func(*http.Request) error
	Serializer runtime.NegotiatedSerializer
	Next       http.Handler
}

// maxBody is the maximum size of a review in bytes. It contains two ResourceQuotas.
const maxBody = 3 << 20

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, ok := genericapirequest.RequestInfoFrom(r.Context())
	if !ok || info.APIGroup != v1beta1.GroupName || info.APIVersion != v1beta1.SchemeGroupVersion.Version || info.Resource != Resource ||
		info.Verb != "create" || info.Namespace != "" {
		h.Next.ServeHTTP(w, r)
		return
	}
	review, err := h.review(r)
	if err != nil {
		responsewriters.ErrorNegotiated(err, h.Serializer, v1beta1.SchemeGroupVersion, w, r)
		return
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	_ = json.NewEncoder(w).Encode(review)
}

// review returns the review with its response. An error means that the request is not one.
func (h *Handler) review(r *http.Request) (*admissionv1.AdmissionReview, error) {
	if err := h.Ready(r); err != nil {
		return nil, apierrors.NewServiceUnavailable("hierarchical quotas cannot be evaluated yet: " + err.Error())
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("a review has at most %d bytes", maxBody))
	}
	review := &admissionv1.AdmissionReview{}
	if err := json.Unmarshal(body, review); err != nil {
		return nil, apierrors.NewBadRequest("the body is not an AdmissionReview: " + err.Error())
	}
	if review.Request == nil {
		return nil, apierrors.NewBadRequest("request: must be set; the body is an AdmissionReview of " + admissionv1.SchemeGroupVersion.String())
	}
	response, err := h.decide(r.Context(), review.Request)
	if err != nil {
		return nil, err
	}
	return &admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Response: response,
	}, nil
}

// decide allows what does not concern our ResourceQuotas, and reserves what remains.
func (h *Handler) decide(ctx context.Context, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
	if request.Operation == admissionv1.Create && request.Name == hnc.QuotaProbeName {
		return &admissionv1.AdmissionResponse{UID: request.UID, Result: &metav1.Status{
			Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "use of hierarchical quotas is reserved",
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: hnc.CauseQuotaProbe}}},
		}}, nil
	}
	allowed := &admissionv1.AdmissionResponse{UID: request.UID, Allowed: true}
	_, ours := quota.ScopeOfObject(request.Name)
	dryRun := request.DryRun != nil && *request.DryRun
	if request.Resource.Group != "" || request.Resource.Resource != "resourcequotas" || request.SubResource != "status" ||
		request.Operation != admissionv1.Update || !ours || dryRun {
		return allowed, nil
	}
	old, updated := &corev1.ResourceQuota{}, &corev1.ResourceQuota{}
	if err := json.Unmarshal(request.OldObject.Raw, old); err != nil {
		return nil, apierrors.NewBadRequest("request.oldObject: not a ResourceQuota: " + err.Error())
	}
	if err := json.Unmarshal(request.Object.Raw, updated); err != nil {
		return nil, apierrors.NewBadRequest("request.object: not a ResourceQuota: " + err.Error())
	}
	if old.Name != request.Name || old.Namespace != request.Namespace || old.Namespace == "" {
		return nil, apierrors.NewBadRequest("request.oldObject: must have the name and namespace of the request")
	}
	err := h.Ledger.Reserve(ctx, old, updated)
	if err == nil {
		return allowed, nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return nil, err
	}
	result := status.Status()
	return &admissionv1.AdmissionResponse{UID: request.UID, Result: &result}, nil
}
