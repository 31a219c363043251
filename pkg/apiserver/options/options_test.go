package options

import (
	"testing"
)

func TestProfilesAreServedOnlyIfAskedFor(t *testing.T) {
	if New().Recommended.Features.EnableProfiling {
		t.Error("hns-apiserver serves profiles by default")
	}
}
