package cooldown

import (
	"encoding/json"
	"time"

	"golang.org/x/time/rate"
)

const (
	// small is the size of an object, in bytes of JSON, up to which its status may follow each change. hns-apiserver
	// keeps all versions of an object in memory for a while.
	small = 8 << 10
	// perSecond and burst bound what the statuses of larger objects write beyond that.
	perSecond = 1 << 20
	burst     = 16 << 20
)

// Pace delays the statuses of large objects while many bytes of them have been written. It is safe for concurrent use.
type Pace struct{ bytes *rate.Limiter }

// NewPace returns a Pace.
func NewPace() Pace { return Pace{rate.NewLimiter(perSecond, burst)} }

// Written counts an object that was written, and returns for how long not to write it again.
func (p Pace) Written(now time.Time, object any) time.Duration {
	encoded, err := json.Marshal(object)
	if err != nil || len(encoded) <= small {
		return 0
	}
	return p.bytes.ReserveN(now, min(len(encoded)-small, burst)).DelayFrom(now)
}
