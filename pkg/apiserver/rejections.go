package apiserver

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/audit"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// rejectedBy is the audit annotation that names the rule of this server that has rejected a request: a resource, and
// the field or the verb that the rule is about.
const rejectedBy = "hnc.x-k8s.io/rejected-by"

// withRejections annotates the audit events of requests that the registry rejects. Requests that kube-apiserver or RBAC
// reject do not reach it.
func withRejections(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		recorded := audit.AuditContextFrom(r.Context())
		info, ok := genericapirequest.RequestInfoFrom(r.Context())
		if recorded == nil || !recorded.Enabled() || !ok {
			return
		}
		if rule := rejectingRule(recorded.GetEventResponseStatus(), info); rule != "" {
			audit.AddAuditAnnotation(r.Context(), rejectedBy, rule)
		}
	})
}

var (
	// messageField matches the field that begins the reason in a message, after the object that the generic error
	// names.
	messageField = regexp.MustCompile(`(?:^|: )((?:metadata|spec|status)(?:\.[A-Za-z]+|\[[^\]]*\])+): `)
	// policyDenied matches rejections by admission policies, which have annotations of their own.
	policyDenied = regexp.MustCompile(`ValidatingAdmissionPolicy '|admission webhook "`)
)

// rejectingRule returns the rule that a response is about, "" for responses that no rule of the registry has caused.
func rejectingRule(status *metav1.Status, info *genericapirequest.RequestInfo) string {
	if status == nil || policyDenied.MatchString(status.Message) {
		return ""
	}
	resource := info.Resource
	if info.Subresource != "" {
		resource += "/" + info.Subresource
	}
	switch status.Code {
	case http.StatusUnprocessableEntity:
		var fields []string
		if status.Details != nil {
			for _, cause := range status.Details.Causes {
				if cause.Field != "" {
					fields = append(fields, cause.Field)
				}
			}
		}
		if len(fields) == 0 {
			fields = []string{info.Verb}
		}
		return resource + ": " + names.Truncate(strings.Join(slices.Compact(fields), ", "), names.MaxText)
	case http.StatusForbidden, http.StatusConflict:
		if field := messageField.FindStringSubmatch(status.Message); field != nil {
			return resource + ": " + field[1]
		}
		// A version that is not the newest, or a name that exists, break no rule of ours.
		if status.Code == http.StatusConflict && (status.Reason == metav1.StatusReasonAlreadyExists || strings.Contains(status.Message, "please apply your changes to the latest version")) {
			return ""
		}
		return resource + ": " + info.Verb
	case http.StatusRequestEntityTooLarge:
		return resource + ": size"
	case http.StatusTooManyRequests:
		return resource + ": concurrency"
	}
	return ""
}
