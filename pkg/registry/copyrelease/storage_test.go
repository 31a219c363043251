package copyrelease

import (
	"testing"
	"time"
)

func TestAStatusDoesNotProlongARelease(t *testing.T) {
	created := time.Unix(1000, 0)
	for age, want := range map[time.Duration]uint64{
		-time.Minute: ttl, 0: ttl, time.Minute: ttl - 60, ttl*time.Second - time.Second: 1, time.Hour: 1,
	} {
		if got := remaining(created, created.Add(age)); got != want {
			t.Errorf("after %s: %d s remain, want %d", age, got, want)
		}
	}
}
