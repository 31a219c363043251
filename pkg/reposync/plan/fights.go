package plan

import "time"

const (
	// fightUpdates is how many changes by others within fightWindow are a fight, as in Config Sync.
	fightUpdates = 5
	fightWindow  = time.Minute
)

// Fights recognizes objects that another client changes again and again. Such an object is written once in fightWindow
// only.
type Fights struct {
	corrections map[ID][]time.Time
}

// NewFights returns the state without corrections.
func NewFights() *Fights { return &Fights{corrections: map[ID][]time.Time{}} }

// Correct records that a change by another client is to be corrected at a time. It returns false if the object is
// fought over, and has to wait.
func (f *Fights) Correct(id ID, now time.Time) bool {
	recent := f.recent(id, now)
	if len(recent) >= fightUpdates {
		return false
	}
	f.corrections[id] = append(recent, now)
	return true
}

// Next returns how long to wait until an object that is fought over may be written again.
func (f *Fights) Next(id ID, now time.Time) time.Duration {
	recent := f.recent(id, now)
	if len(recent) < fightUpdates {
		return 0
	}
	return recent[len(recent)-fightUpdates].Add(fightWindow).Sub(now)
}

// recent forgets corrections that are too old.
func (f *Fights) recent(id ID, now time.Time) []time.Time {
	times := f.corrections[id]
	for len(times) > 0 && now.Sub(times[0]) >= fightWindow {
		times = times[1:]
	}
	if len(times) == 0 {
		delete(f.corrections, id)
		return nil
	}
	f.corrections[id] = times
	return times
}
