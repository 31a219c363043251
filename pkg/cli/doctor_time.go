package cli

import (
	"context"
	"time"
)

// serverTime returns the time of kube-apiserver, to the second.
func (o *doctorOptions) serverTime(ctx context.Context) (time.Time, error) {
	now, err := o.date(ctx, "version")
	if err == nil && now.IsZero() {
		now = time.Now()
	}
	return now, err
}
