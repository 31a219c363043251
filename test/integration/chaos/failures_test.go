package chaos

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// foreseen begins the reasons of errors that go by themselves whatever the servers do.
const foreseen = "foreseen: "

// failures counts failed requests by the reason.
type failures struct {
	mu sync.Mutex
	by map[string]int
}

func (f *failures) add(err error) {
	reason := "no answer"
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		reason = fmt.Sprintf("%d %s", status.Status().Code, cmp.Or(string(status.Status().Reason), status.Status().Message))
	}
	if errors.As(err, &errRetry{}) {
		reason = foreseen + reason
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.by == nil {
		f.by = map[string]int{}
	}
	f.by[reason]++
}

func (f *failures) total() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	total := 0
	for _, n := range f.by {
		total += n
	}
	return total
}

// faulty returns how many requests failed because of the servers.
func faulty(workers []*worker) int {
	total := 0
	for _, w := range workers {
		w.retried.mu.Lock()
		for reason, n := range w.retried.by {
			if !strings.HasPrefix(reason, foreseen) {
				total += n
			}
		}
		w.retried.mu.Unlock()
	}
	return total
}

// unretriable returns the reasons for which no client repeats a request by itself.
func unretriable(workers []*worker) (found []string) {
	for _, w := range workers {
		for reason := range w.retried.by {
			code, _, _ := strings.Cut(reason, " ")
			if !slices.Contains([]string{strings.TrimSpace(foreseen), "no", "429", "503", "504"}, code) {
				found = append(found, reason)
			}
		}
	}
	return found
}

// retries returns how many requests failed, by the reason.
func retries(workers []*worker) string {
	by, made := map[string]int{}, 0
	for _, w := range workers {
		w.retried.mu.Lock()
		for reason, n := range w.retried.by {
			by[reason] += n
		}
		w.retried.mu.Unlock()
		made += w.made
	}
	var lines []string
	for _, reason := range slices.Sorted(maps.Keys(by)) {
		lines = append(lines, fmt.Sprintf("%d times %s", by[reason], reason))
	}
	return fmt.Sprintf("[%s] of %d changes", strings.Join(lines, ", "), made)
}
