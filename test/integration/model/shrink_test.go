package model

import (
	"slices"
	"testing"
	"time"
)

// shrink returns a part of a list that still fails: it leaves out ever smaller ranges for as long as the rest fails,
// until the end.
func shrink[T any](list []T, end time.Time, fails func([]T) bool) []T {
	for size := len(list) / 2; size > 0; {
		removed := false
		// The last operations first: most of what follows the cause is of no interest.
		for from := len(list) - size; from >= 0; from -= size {
			if time.Now().After(end) {
				return list
			}
			if rest := slices.Delete(slices.Clone(list), from, from+size); fails(rest) {
				list, removed = rest, true
			}
		}
		if size = min(size, len(list)); !removed || size == len(list) {
			size /= 2
		}
	}
	return list
}

func TestShrinkFindsTheLeastPart(t *testing.T) {
	var list []int
	for i := range 100 {
		list = append(list, i)
	}
	fails := func(part []int) bool {
		return slices.Contains(part, 7) && slices.Contains(part, 42) && slices.Contains(part, 99)
	}
	if got := shrink(list, time.Now().Add(time.Hour), fails); !slices.Equal(got, []int{7, 42, 99}) {
		t.Errorf("shrunk to %v", got)
	}
	if got := shrink(list, time.Now(), fails); len(got) != len(list) {
		t.Errorf("without time: shrunk to %v", got)
	}
}
