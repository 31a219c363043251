package certificates

import (
	"bytes"
	"crypto/x509"
	"testing"
	"time"
)

var (
	testNames     = []string{"hns-apiserver.hns-system.svc"}
	testLifetimes = Lifetimes{Authority: 300 * time.Hour, Serving: 100 * time.Hour}
	begin         = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
)

func mustPlan(t *testing.T, s state, now time.Time) (state, time.Time) {
	t.Helper()
	s, due, err := plan(s, now, testLifetimes, testNames)
	if err != nil {
		t.Fatal(err)
	}
	return s, due
}

func verify(serving *pair, bundle []byte, now time.Time) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	_, err := serving.parsed.Verify(x509.VerifyOptions{Roots: roots, DNSName: testNames[0], CurrentTime: now})
	return err
}

// A client that learns of a change up to maxOverlap late trusts every server, and so does a server that gets its
// certificate late.
func TestLateClientsAndServersTrustEachOther(t *testing.T) {
	const step = 2 * time.Hour
	var bundles [][]byte
	var serving []*pair
	var s state
	authorities := map[string]bool{}
	now := begin
	for range 500 {
		s, _ = mustPlan(t, s, now)
		bundles, serving = append(bundles, s.bundle()), append(serving, s.serving)
		authorities[string(s.current.certificate)] = true
		last := len(bundles) - 1
		for _, steps := range []int{0, 3, 6, 10} {
			late := max(0, last-steps)
			if err := verify(s.serving, bundles[late], now); err != nil {
				t.Fatalf("after %s, a client that is %d steps late does not trust the server: %v", now.Sub(begin), last-late, err)
			}
			if err := verify(serving[late], s.bundle(), now); err != nil {
				t.Fatalf("after %s, a client does not trust a server that is %d steps late: %v", now.Sub(begin), last-late, err)
			}
		}
		now = now.Add(step)
	}
	if len(authorities) < 4 {
		t.Errorf("%d authorities in 1000 hours, want one in 200 hours", len(authorities))
	}
}

// The controller sleeps until the time that plan returns: nothing changes before it, and something changes then.
func TestNothingChangesBeforeItIsDue(t *testing.T) {
	s, due := mustPlan(t, state{}, begin)
	for range 30 {
		same, _ := mustPlan(t, s, due.Add(-time.Second))
		if same != s {
			t.Fatalf("a change before it is due at %s", due)
		}
		changed, next := mustPlan(t, s, due)
		if changed == s {
			t.Fatalf("no change when it is due at %s", due)
		}
		if !next.After(due) {
			t.Fatalf("due at %s, and then at %s", due, next)
		}
		s, due = changed, next
	}
}

// A leader whose clock was wrong has issued what clients with a correct clock do not accept.
func TestWhatAWrongClockHasIssuedIsReplaced(t *testing.T) {
	for _, wrong := range []time.Duration{48 * time.Hour, -10 * testLifetimes.Authority} {
		s, _ := mustPlan(t, state{}, begin.Add(wrong))
		after, _ := mustPlan(t, s, begin)
		if err := verify(after.serving, after.bundle(), begin); err != nil {
			t.Errorf("issued %s off: %v", wrong, err)
		}
		// A part is replaced alone.
		right, _ := mustPlan(t, state{}, begin)
		right.serving = s.serving
		if after, _ = mustPlan(t, right, begin); after.serving == s.serving || after.current != right.current {
			t.Errorf("a serving certificate that was issued %s off stays, or its authority does not", wrong)
		}
		right.next = s.current
		if after, _ = mustPlan(t, right, begin); after.next == s.current || after.current == s.current {
			t.Errorf("the next authority, which was issued %s off, stays", wrong)
		}
	}
}

func TestAfterALongOutageAllIsNew(t *testing.T) {
	s, _ := mustPlan(t, state{}, begin)
	now := begin.Add(10 * testLifetimes.Authority)
	after, _ := mustPlan(t, s, now)
	if err := verify(after.serving, after.bundle(), now); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(after.bundle(), s.current.certificate) {
		t.Error("the bundle contains an expired authority")
	}
}

func TestServingCertificateFollowsItsNames(t *testing.T) {
	s, _ := mustPlan(t, state{}, begin)
	changed, _, err := plan(s, begin, testLifetimes, []string{"other.hns-system.svc"})
	if err != nil {
		t.Fatal(err)
	}
	if changed.serving == s.serving || changed.current != s.current {
		t.Error("other names need another serving certificate of the same authority")
	}
}

func TestServingCertificatesSignNothing(t *testing.T) {
	s, _ := mustPlan(t, state{}, begin)
	forged, err := newServing(s.serving, begin, time.Hour, testNames)
	if err != nil {
		t.Fatal(err)
	}
	if err := verify(forged, s.bundle(), begin); err == nil {
		t.Error("a certificate that a serving certificate has signed is trusted")
	}
	if s.current.parsed.MaxPathLen != 0 || !s.current.parsed.MaxPathLenZero {
		t.Error("an authority may sign other authorities")
	}
}
