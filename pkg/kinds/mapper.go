package kinds

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
)

// Mapper maps resources to kinds, and can repeat discovery for unknown kinds.
type Mapper struct {
	meta.RESTMapper

	// refreshLock holds a token while nobody refreshes. It guards refreshed.
	refreshLock chan struct{}
	refreshed   time.Time
}

// refreshInterval is the minimum time between two refreshes, regardless of the number of requests with unknown kinds.
const refreshInterval = time.Second

// NewMapper returns a Mapper that caches the given one.
func NewMapper(mapper meta.RESTMapper) *Mapper {
	m := &Mapper{RESTMapper: mapper, refreshLock: make(chan struct{}, 1)}
	m.refreshLock <- struct{}{}
	return m
}

// Refresh makes sure that the mapper includes every kind that existed at the given time. It waits as long as the rate
// limit requires.
func (m *Mapper) Refresh(since time.Time) {
	<-m.refreshLock
	defer func() { m.refreshLock <- struct{}{} }()
	if m.refreshed.After(since) {
		return
	}
	time.Sleep(time.Until(m.refreshed.Add(refreshInterval)))
	m.refreshed = time.Now()
	meta.MaybeResetRESTMapper(m.RESTMapper)
}

// Find is Resolve, but a missing kind triggers Refresh unless that has run since the given time.
func (m *Mapper) Find(since time.Time, group, resource string) (*meta.RESTMapping, error) {
	mapping, err := Resolve(m, group, resource)
	if meta.IsNoMatchError(err) {
		m.Refresh(since)
		return Resolve(m, group, resource)
	}
	return mapping, err
}
