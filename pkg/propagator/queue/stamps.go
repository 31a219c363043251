package queue

import (
	"sync"
	"time"
)

// Stamps records since when work is due. It is safe for concurrent use.
type Stamps struct {
	mu sync.Mutex
	at map[Key]time.Time
}

// NewStamps returns empty Stamps.
func NewStamps() *Stamps { return &Stamps{at: map[Key]time.Time{}} }

// Add records that work is due since now, unless it is due already.
func (s *Stamps) Add(key Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.at[key]; !ok {
		s.at[key] = time.Now()
	}
}

// Remove forgets the work, and returns since when it was due; zero if it was not.
func (s *Stamps) Remove(key Key) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.at[key]
	delete(s.at, key)
	return at
}
