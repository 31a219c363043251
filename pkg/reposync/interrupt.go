package reposync

import (
	"context"
	"time"
)

// interruptions is for how long revisions that follow one another may interrupt each other: the end of a revision
// deletes what has left the repository.
const interruptions = 10 * time.Minute

// interruptible returns a context that ends when the source names another revision than the one that was read, so that
// a fix does not wait until a large revision has been applied. The caller calls end when it is done; end reports
// whether that was why the context has ended.
func (w *worker) interruptible(ctx context.Context) (applying context.Context, end func() bool) {
	applying, cancel := context.WithCancel(ctx)
	ended, interrupted := make(chan struct{}), false
	go func() {
		defer close(ended)
		ticker := time.NewTicker(w.interval())
		defer ticker.Stop()
		for {
			select {
			case <-applying.Done():
				return
			case <-ticker.C:
			}
			if w.manager.now().Sub(w.completed) < interruptions && w.source.moved(applying) {
				interrupted = true
				cancel()
				return
			}
		}
	}()
	return applying, func() bool {
		cancel()
		<-ended
		return interrupted && ctx.Err() == nil
	}
}
