package reposync

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// maxReported is how many failures and errors a status contains.
const maxReported = 20

// outcome is the result of one step.
type outcome struct {
	// seen is the commit that was read last, and commit the one that is in force; either may be empty.
	seen, commit string
	result       *repository.Result
	// reason and message are those of the condition Ready.
	reason, message string
	sourceError     error
	errors          report.Errors
	// unknown are the kinds that cannot be watched.
	unknown map[schema.GroupKind]error
	// interrupted is true if not everything was tried, because the source has another revision.
	interrupted bool
	// wait is when to try again, 0 for the usual time.
	wait time.Duration

	mu       sync.Mutex
	failures int
	writes   int
	fights   int
	// failed are the first maxReported failures, in order.
	failed []v1alpha3.ObjectFailure
}

func (o *outcome) fail(reason, message string) *outcome {
	o.reason, o.message = reason, message
	return o
}

func (o *outcome) unavailable() *outcome {
	return o.fail(hnc.ReasonSourceUnavailable, "spec.source: "+message(o.sourceError))
}

// add records the result of a write. It may be called concurrently.
func (o *outcome) add(id plan.ID, path string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writes++
	if err == nil {
		return
	}
	o.failures++
	failure := v1alpha3.ObjectFailure{
		Group: names.Shorten(id.Kind.Group), Kind: names.Shorten(id.Kind.Kind), Namespace: names.Shorten(id.Namespace), Name: names.Shorten(id.Name),
	}
	at, _ := slices.BinarySearchFunc(o.failed, failure, compareFailures)
	if at == maxReported {
		return
	}
	failure.Path, failure.Message = names.ShortenText(path), describe(id, err)
	o.failed = slices.Insert(o.failed, at, failure)
	o.failed = o.failed[:min(maxReported, len(o.failed))]
}

func compareFailures(a, b v1alpha3.ObjectFailure) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Group, b.Group))
}

// describe returns the message of an error about an object; one of the API server begins with a code, others have their own,
// or none.
func describe(id plan.ID, err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return message(err)
	}
	code, remedy := report.ApplyError, ""
	switch {
	case plan.LacksPermission(err):
		code, remedy = report.InsufficientPermission, "; grant this to the account of spec.serviceAccount, by a ClusterRoleBinding"
		if id.Namespace != "" {
			remedy += " if the repository creates the namespace"
		}
	case apierrors.IsServerTimeout(err), apierrors.IsTimeout(err), apierrors.IsTooManyRequests(err), apierrors.IsServiceUnavailable(err), apierrors.IsConflict(err):
		code = report.TransientError
	}
	return fmt.Sprintf("%s: %s%s", code, message(err), remedy)
}

// fight records an object that another client changes again and again.
func (o *outcome) fight(object *plan.Object, wait time.Duration) {
	o.add(object.ID, object.Path, fmt.Errorf("%s: another client changes the object again and again; "+
		"find it by metadata.managedFields, or remove the object from the repository", report.ControllerFight))
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fights++
	if o.wait == 0 || wait < o.wait {
		o.wait = wait
	}
}

// conclude sets the reason after all writes, unless it is why a later revision is not applied.
func (o *outcome) conclude() {
	if o.result != nil {
		o.errors = append(o.errors, o.result.Errors...)
	}
	switch {
	case o.reason != "":
	case o.fights > 0 && o.fights == o.failures:
		o.fail(hnc.ReasonControllerFight, fmt.Sprintf("%d objects are changed again and again by other clients", o.fights))
	case o.failures > 0:
		o.fail(hnc.ReasonApplyFailed, fmt.Sprintf("%d of %d writes have failed; the first: %s", o.failures, o.writes, first(o.failed)))
		o.wait = 0
	case len(o.unknown) > 0:
		o.fail(hnc.ReasonApplyFailed, fmt.Sprintf("%d kinds cannot be watched, so nothing of them is deleted: %s", len(o.unknown), firstUnknown(o.unknown)))
	case len(o.errors) > 0:
		o.fail(hnc.ReasonInvalidRepository, fmt.Sprintf("objects are left out: %d error(s), the first is %s", len(o.errors), o.errors[0].Code))
	default:
		o.fail(hnc.ReasonSynced, "the cluster is as commit "+short(o.commit)+" says")
	}
}

func first(failed []v1alpha3.ObjectFailure) string {
	f := failed[0]
	id := plan.ID{Kind: schema.GroupKind{Group: f.Group, Kind: f.Kind}, Namespace: f.Namespace, Name: f.Name}
	return id.String() + ": " + f.Message
}

// firstUnknown returns the first error by kind, so that the status does not change with each attempt.
func firstUnknown(unknown map[schema.GroupKind]error) string {
	kinds := slices.SortedFunc(maps.Keys(unknown), func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
	return message(unknown[kinds[0]])
}

// short returns an abbreviated commit.
func short(commit string) string { return commit[:min(12, len(commit))] }
