package certificates

import (
	"bytes"
	"slices"
	"time"
)

// Lifetimes are how long issued certificates are valid.
type Lifetimes struct {
	Authority, Serving time.Duration
}

// state is what is issued. A nil pair does not exist yet.
type state struct {
	// current signs serving certificates. previous has signed them before, and next will sign them. Clients trust all
	// three.
	previous, current, next *pair
	serving                 *pair
}

// overlap is the part of an authority's life during which clients already trust it and it signs nothing: they learn of
// it first.
const overlap = 10

// maxOverlap limits that for authorities that live long.
const maxOverlap = 24 * time.Hour

// activation returns when an authority may begin to sign.
func activation(authority *pair) time.Time {
	return authority.issued().Add(min(authority.parsed.NotAfter.Sub(authority.issued())/overlap, maxOverlap))
}

// plan returns the state that s has to become now, and the time of the next change. It issues only what is missing or
// due.
func plan(s state, now time.Time, lifetimes Lifetimes, names []string) (state, time.Time, error) {
	var err error
	if s.previous.expired(now) {
		s.previous = nil
	}
	if !s.next.valid(now) {
		s.next = nil
	}
	if !s.current.valid(now) {
		// Also after a long outage, or the issue by a leader whose clock was ahead: no client can trust it, so there is
		// nothing to overlap with.
		s.current, s.next = s.next, nil
	}
	if s.current == nil {
		if s.current, err = newAuthority(now, lifetimes.Authority); err != nil {
			return s, now, err
		}
	}
	if s.next == nil && !now.Before(s.current.renewal()) {
		if s.next, err = newAuthority(now, lifetimes.Authority); err != nil {
			return s, now, err
		}
	}
	if s.next != nil && !now.Before(activation(s.next)) {
		s.previous, s.current, s.next = s.current, s.next, nil
	}
	if !s.serves(now, names) {
		if s.serving, err = newServing(s.current, now, lifetimes.Serving, names); err != nil {
			return s, now, err
		}
	}
	return s, s.change(), nil
}

func (p *pair) expired(now time.Time) bool { return p != nil && !now.Before(p.parsed.NotAfter) }

// valid reports whether clients with a correct clock accept the certificate.
func (p *pair) valid(now time.Time) bool {
	return p != nil && !p.expired(now) && !now.Before(p.parsed.NotBefore)
}

// serves reports whether the serving certificate is the current authority's, for these names, and not due.
func (s state) serves(now time.Time, names []string) bool {
	return s.serving.valid(now) && now.Before(s.serving.renewal()) &&
		slices.Equal(s.serving.parsed.DNSNames, names) && s.serving.parsed.CheckSignatureFrom(s.current.parsed) == nil
}

// change returns when the state is due to change.
func (s state) change() time.Time {
	due := []time.Time{s.serving.renewal(), s.current.renewal()}
	if s.next != nil {
		due[1] = activation(s.next)
	}
	if s.previous != nil {
		due = append(due, s.previous.parsed.NotAfter)
	}
	return slices.MinFunc(due, time.Time.Compare)
}

// bundle returns the certificates that clients trust, in PEM.
func (s state) bundle() []byte {
	var all [][]byte
	for _, p := range []*pair{s.previous, s.current, s.next} {
		if p != nil {
			all = append(all, p.certificate)
		}
	}
	return bytes.Join(all, nil)
}
