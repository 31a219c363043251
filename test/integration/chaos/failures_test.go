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

// unanswered is the reason of a request without a response.
const unanswered = "no answer"

// failures counts failed requests by the reason.
type failures struct {
	mu sync.Mutex
	by map[string]int
}

func (f *failures) add(err error) {
	reason := unanswered
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		reason = fmt.Sprintf("%d %s", status.Status().Code, cmp.Or(string(status.Status().Reason), status.Status().Message))
	}
	if apierrors.IsInternalError(err) {
		reason = err.Error()
	}
	if startup(err) {
		reason += " while kube-apiserver starts"
	}
	if errors.As(err, &errRetry{}) {
		reason = foreseen + reason
	}
	f.count(reason)
}

func (f *failures) count(reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.by == nil {
		f.by = map[string]int{}
	}
	f.by[reason]++
}

func (f *failures) total() int {
	total := 0
	for _, n := range f.since(nil) {
		total += n
	}
	return total
}

// since returns how many there are by the reason, without those that there were.
func (f *failures) since(before map[string]int) map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	more := map[string]int{}
	for reason, n := range f.by {
		if n > before[reason] {
			more[reason] = n - before[reason]
		}
	}
	return more
}

// faulty returns how many requests failed because of the servers.
func faulty(workers []*worker) int {
	total := 0
	for _, w := range workers {
		for reason, n := range w.retried.since(nil) {
			if !strings.HasPrefix(reason, foreseen) {
				total += n
			}
		}
	}
	return total
}

// unretriable returns the reasons for which no client repeats a request by itself.
func unretriable(workers []*worker) (found []string) {
	for _, w := range workers {
		for reason := range w.retried.since(nil) {
			code, _, _ := strings.Cut(reason, " ")
			if !slices.Contains([]string{strings.TrimSpace(foreseen), "no", "429", "503", "504"}, code) {
				found = append(found, reason)
			}
		}
	}
	return found
}

// retries returns how many requests of workers with the same clients failed, by the reason, and how many attempts were
// refused.
func retries(workers []*worker) string {
	by, made := map[string]int{}, 0
	for _, w := range workers {
		for reason, n := range w.retried.since(nil) {
			by[reason] += n
		}
		made += w.made
	}
	return fmt.Sprintf("%s of %d changes, after attempts refused %s", listed(by), made, listed(workers[0].client.refused.since(nil)))
}

// listed formats counts.
func listed(by map[string]int) string {
	var lines []string
	for _, reason := range slices.Sorted(maps.Keys(by)) {
		lines = append(lines, fmt.Sprintf("%d times %s", by[reason], reason))
	}
	return fmt.Sprintf("[%s]", strings.Join(lines, ", "))
}
