package treeplacement

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/forest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Resource is the plural name of the resource.
const Resource = "treeplacements"

const (
	// maxLines is the number of rejected placements that the message of an error shows. Its causes contain all.
	maxLines = 20
)

// rejection contains the errors of rejected placements.
type rejection struct {
	// fresh reports whether the placements were evaluated on fresh reads.
	fresh bool
	// names are the namespaces that are not moved.
	names  map[string]bool
	errors []rejectedPlacement
}

type rejectedPlacement struct {
	index int
	forest.Placement
	err error
}

// includesParent reports whether the new parent of a placement is not moved. Then the placement cannot be evaluated, and is not moved either.
func (r *rejection) includesParent(p forest.Placement) bool {
	if r.names[p.Parent] {
		r.names[p.Name] = true
	}
	return r.names[p.Parent]
}

func (r *rejection) add(index int, p forest.Placement, err error) {
	r.names[p.Name] = true
	r.errors = append(r.errors, rejectedPlacement{index, p, err})
}

func (r *rejection) Error() string { return fmt.Sprintf("%d placements are rejected", len(r.errors)) }

// moved returns a cause for each namespace that a request has moved before it failed.
func (r *request) moved() []metav1.StatusCause {
	var causes []metav1.StatusCause
	for i, p := range r.placements {
		if r.results[p.Name].Outcome == hnc.PlacementMoved {
			causes = append(causes, metav1.StatusCause{
				Type: metav1.CauseType(hnc.PlacementMoved), Field: placementPath(i), Message: fmt.Sprintf("namespace %q is moved", p.Name),
			})
		}
	}
	return causes
}

func placementPath(i int) string { return fmt.Sprintf("spec.placements[%d]", i) }

// incomplete returns the error of a request that has not moved all namespaces. Its causes name those that are moved.
func (r *request) incomplete(err error) error {
	causes := r.moved()
	moved := len(causes)
	state := "nothing was changed"
	if moved > 0 {
		state = fmt.Sprintf("%d of %d namespaces are moved; repeat the request to move the others, when they can be moved", moved, len(r.placements))
	}
	status := &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Details: &metav1.StatusDetails{Group: hnc.GroupName, Kind: Resource, Name: r.name},
	}}
	var rejected *rejection
	switch {
	case errors.As(err, &rejected):
		rejected.describe(&status.ErrStatus, state)
	case errors.Is(err, fence.ErrLost):
		status.ErrStatus.Code, status.ErrStatus.Reason = http.StatusConflict, metav1.StatusReasonConflict
		status.ErrStatus.Message = "the tree around the namespaces keeps changing; try again: " + state
	default:
		known := apierrors.NewInternalError(err)
		errors.As(err, &known)
		if r.committing {
			state = fmt.Sprintf("%d of %d namespaces are moved for certain; repeat the request", moved, len(r.placements))
		}
		status.ErrStatus.Code, status.ErrStatus.Reason = known.ErrStatus.Code, known.ErrStatus.Reason
		status.ErrStatus.Message = fmt.Sprintf("%s: %s", known.ErrStatus.Message, state)
	}
	status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, causes...)
	return status
}

// describe sets the reason, the message and the causes of an error for rejected placements.
func (r *rejection) describe(status *metav1.Status, state string) {
	var lines []string
	for _, rejected := range r.errors {
		known := apierrors.NewInternalError(rejected.err)
		errors.As(rejected.err, &known)
		s := known.ErrStatus
		if s.Reason == metav1.StatusReasonNotFound {
			// The resource of the request itself is found.
			s.Code, s.Reason = http.StatusUnprocessableEntity, metav1.StatusReasonInvalid
		}
		if severity(s.Code) > severity(status.Code) {
			status.Code, status.Reason = s.Code, s.Reason
		}
		for _, cause := range causes(rejected, s) {
			status.Details.Causes = append(status.Details.Causes, cause)
			lines = append(lines, fmt.Sprintf("%s: namespace %q: %s", cause.Field, rejected.Name, cause.Message))
		}
	}
	if more := len(lines) - maxLines; more > 0 {
		lines = append(lines[:maxLines], fmt.Sprintf("and %d more", more))
	}
	status.Message = fmt.Sprintf("%s; rejected placements:\n%s", state, strings.Join(lines, "\n"))
}

// severity orders the codes of errors: that of the whole request is the most severe one. Users must not retry what they may not do.
func severity(code int32) int {
	switch {
	case code == 0:
		return 0
	case code == http.StatusForbidden:
		return 5
	case code == http.StatusUnprocessableEntity:
		return 4
	case code == http.StatusConflict:
		return 2
	case code >= http.StatusInternalServerError, code == http.StatusTooManyRequests:
		return 6
	}
	return 1
}

// unauthorizedVerb matches the rejection of a user without rights. The verb would say whether the hierarchy exists.
var unauthorizedVerb = regexp.MustCompile(`^(hierarchies\S* )(?:"hierarchy" )?is forbidden: (User .*) cannot (?:create|patch) resource "hierarchies"`)

// causes returns the causes of the error of a placement, in the fields of the request.
func causes(rejected rejectedPlacement, s metav1.Status) []metav1.StatusCause {
	at := placementPath(rejected.index)
	if s.Details != nil && len(s.Details.Causes) > 0 {
		all := make([]metav1.StatusCause, 0, len(s.Details.Causes))
		for _, cause := range s.Details.Causes {
			switch cause.Field {
			case "spec.parent":
				cause.Field = at + ".parent"
			case "":
				cause.Field = at
			default:
				cause.Message, cause.Field = cause.Field+": "+cause.Message, at
			}
			all = append(all, cause)
		}
		return all
	}
	return []metav1.StatusCause{{Type: metav1.CauseType(s.Reason), Message: unauthorizedVerb.ReplaceAllString(s.Message, `${1}is forbidden: $2 cannot create or patch resource "hierarchies"`), Field: at}}
}
