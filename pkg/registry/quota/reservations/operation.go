package reservations

import (
	"fmt"
	"maps"
	"strconv"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	quotav1 "k8s.io/apiserver/pkg/quota/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
)

// operation changes the recorded use of one ResourceQuota.
type operation struct {
	key
	// uid is that of the ResourceQuota, and version its resourceVersion whose status contains used.
	uid     types.UID
	version uint64
	used    corev1.ResourceList
	// reserve is the use that a write of that status would result in, nil if there is no such write.
	reserve corev1.ResourceList
	// forget drops the reservations of the record of this revision, because the writes have failed, and takes over a
	// version that is earlier than that of the record.
	forget   bool
	revision int64
	// gone deletes the record of this revision, because the namespace or the ResourceQuota is gone. If uid is set, it
	// deletes that of any revision unless it is that of this ResourceQuota, which is in a namespace with the ancestors
	// present.
	gone    bool
	present []string
	// fresh is set if the operation is likely to differ from what this replica knows.
	fresh bool
	// sums is set if the operation has to sum up records of use, so that it is evaluated alone. root is that of its
	// tree.
	sums bool
	root string
	// yields is set if the operation fails at once instead of waiting for the sum of another one in its tree: the
	// observer tries it again, and has those of other trees to do.
	yields bool
	// done receives the result. left is set when nobody waits for it any more.
	done chan error
	left atomic.Bool
}

// newOperation returns the operation that records the status of a ResourceQuota.
func newOperation(rq *corev1.ResourceQuota) (*operation, error) {
	scope, ours := quota.ScopeOfObject(rq.Name)
	if !ours {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("metadata.name: %q is not the name of a ResourceQuota for hierarchical quotas", rq.Name))
	}
	version, err := strconv.ParseUint(rq.ResourceVersion, 10, 64)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("metadata.resourceVersion: %q is not a number", rq.ResourceVersion))
	}
	// kube-controller-manager reports a zero for each limit.
	return &operation{key: key{rq.Namespace, scope}, uid: rq.UID, version: version, used: quotav1.RemoveZeros(hnc.BoundQuantities(rq.Status.Used))}, nil
}

// replaces reports whether a record is that of another ResourceQuota, as of an earlier namespace of the name. Records
// of earlier versions do not say which one theirs is.
func (o *operation) replaces(old *use) bool {
	return old != nil && old.UID != "" && o.uid != "" && old.UID != o.uid
}

// apply returns the record after the operation; nil if there is none. The ancestors are not set.
func (o *operation) apply(old *use) *use {
	if o.gone {
		return nil
	}
	u := use{}
	if old != nil {
		u = *old
	}
	switch {
	case o.version > u.Observed || old == nil || o.forget:
		// Writes of an earlier version cannot succeed any more.
		u.UID, u.Observed, u.Used, u.Reserved = o.uid, o.version, o.used, nil
	case o.version < u.Observed && o.reserve == nil:
		// Outdated.
		return old
	case o.version == u.Observed && u.UID == "":
		u.UID = o.uid // An earlier version has written the record.
	}
	if o.reserve != nil {
		u.Reserved = quotav1.Max(u.Reserved, o.reserve)
		maps.DeleteFunc(u.Reserved, func(name corev1.ResourceName, reserved resource.Quantity) bool {
			return reserved.Cmp(u.Used[name]) <= 0
		})
	}
	return &u
}
