package propagator

import "time"

// Idle reports whether nothing is waiting or being reconciled, and nothing has been for so long. Work that failed is
// retried after up to 10 s, and counts only while it is retried; so does the status of the configuration.
func (r *Runner) Idle(quiet time.Duration) bool {
	m, _ := r.current()
	return m != nil && m.leading.Load() && m.urgent.Len() == 0 && m.bulk.Len() == 0 && m.busy.Load() == 0 && time.Since(time.Unix(0, m.worked.Load())) >= quiet
}
