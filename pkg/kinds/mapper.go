package kinds

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
)

// Mapper maps resources to kinds, and can run discovery again for kinds that it does not know.
type Mapper struct {
	meta.RESTMapper

	// turn holds a token while nobody refreshes. It guards refreshed.
	turn      chan struct{}
	refreshed time.Time
}

// refreshInterval is the least time between two refreshes, no matter how many requests name unknown kinds.
const refreshInterval = time.Second

// NewMapper returns a Mapper that caches what the given one knows.
func NewMapper(mapper meta.RESTMapper) *Mapper {
	m := &Mapper{RESTMapper: mapper, turn: make(chan struct{}, 1)}
	m.turn <- struct{}{}
	return m
}

// Refresh makes sure that the mapper knows every kind that existed at the given time. It waits as long as the rate limit requires.
func (m *Mapper) Refresh(since time.Time) {
	<-m.turn
	defer func() { m.turn <- struct{}{} }()
	if m.refreshed.After(since) {
		return
	}
	time.Sleep(time.Until(m.refreshed.Add(refreshInterval)))
	m.refreshed = time.Now()
	meta.MaybeResetRESTMapper(m.RESTMapper)
}

// Find does as Resolve. A missing kind makes the mapper refresh, unless it has done so since the given time.
func (m *Mapper) Find(since time.Time, group, resource string) (*meta.RESTMapping, error) {
	mapping, err := Resolve(m, group, resource)
	if meta.IsNoMatchError(err) {
		m.Refresh(since)
		return Resolve(m, group, resource)
	}
	return mapping, err
}
