package kinds

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
)

// Mapper maps resources to kinds, and can repeat discovery for unknown kinds.
type Mapper struct {
	meta.RESTMapper

	// refreshing holds the token of who refreshes; unlike for a mutex, waiting for it ends with a context. It guards
	// refreshed.
	refreshing chan struct{}
	refreshed  time.Time
}

// refreshInterval is the minimum time between two refreshes, regardless of the number of requests with unknown kinds.
const refreshInterval = time.Second

// NewMapper returns a Mapper that caches the given one.
func NewMapper(mapper meta.RESTMapper) *Mapper {
	return &Mapper{RESTMapper: mapper, refreshing: make(chan struct{}, 1)}
}

// Refresh makes sure that the mapper includes every kind that existed at the given time. It waits as long as the rate
// limit requires, or until the context ends. One refresh is for all that wait.
func (m *Mapper) Refresh(ctx context.Context, since time.Time) error {
	select {
	case m.refreshing <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-m.refreshing }()
	if m.refreshed.After(since) {
		return nil
	}
	select {
	case <-time.After(time.Until(m.refreshed.Add(refreshInterval))):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	m.refreshed = time.Now()
	meta.MaybeResetRESTMapper(m.RESTMapper)
	return nil
}

// Find is Resolve, but a missing kind triggers Refresh unless that has run since the given time.
func (m *Mapper) Find(ctx context.Context, since time.Time, group, resource string) (*meta.RESTMapping, error) {
	mapping, err := Resolve(m, group, resource)
	if meta.IsNoMatchError(err) {
		if err := m.Refresh(ctx, since); err != nil {
			return nil, err
		}
		return Resolve(m, group, resource)
	}
	return mapping, err
}
