package pacing

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/tenantrates"
)

const (
	// small is the size of an object, in bytes of JSON, up to which its status may follow each change. hns-apiserver
	// keeps all versions of an object in memory for a while.
	small = 8 << 10
	// perSecond and burst bound what the statuses of larger objects write beyond that, half of it for one tree.
	perSecond = 1 << 20
	burst     = 16 << 20
	// longest bounds the delays. In that time, a tree may write more than what it may store of large objects.
	longest = 2 * time.Minute
)

// Pace delays the statuses of large objects while many bytes of them have been written. It is safe for concurrent use.
type Pace struct{ bytes *tenantrates.Rates }

// NewPace returns a Pace.
func NewPace() Pace { return Pace{tenantrates.New(perSecond, burst)} }

// Written counts an object that was written in the tree of a root, and returns for how long not to write it again. It
// counts nothing if the object still has the version that it had before: the server did not store it again.
func (p Pace) Written(now time.Time, root, before string, object metav1.Object) time.Duration {
	if object.GetResourceVersion() == before {
		return 0
	}
	encoded, err := json.Marshal(object)
	if err != nil || len(encoded) <= small {
		return 0
	}
	return p.bytes.Spend(now, root, len(encoded)-small, longest)
}
