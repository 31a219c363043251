package quota

import (
	"encoding/json"
	"time"

	"golang.org/x/time/rate"
)

const (
	// small is the size of a quota, in bytes of JSON, up to which its status may follow each change. hns-apiserver keeps
	// all versions of a quota in memory for a while.
	small = 8 << 10
	// perSecond and burst bound what the statuses of larger quotas write beyond that.
	perSecond = 1 << 20
	burst     = 16 << 20
)

// pace delays the statuses of large quotas while many bytes of them have been written.
type pace struct{ bytes *rate.Limiter }

func newPace() pace { return pace{rate.NewLimiter(perSecond, burst)} }

// written counts a quota that was written, and returns for how long not to write it again.
func (p pace) written(now time.Time, q any) time.Duration {
	encoded, err := json.Marshal(q)
	if err != nil || len(encoded) <= small {
		return 0
	}
	return p.bytes.ReserveN(now, min(len(encoded)-small, burst)).DelayFrom(now)
}
