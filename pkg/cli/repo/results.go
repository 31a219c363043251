package repo

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/writer"
)

// applyResult is the result of one write, in the output of -o.
type applyResult struct {
	// Result is applied, deleted, released, kept or failed.
	Result    string `json:"result"`
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Path      string `json:"path,omitempty"`
	Message   string `json:"message,omitempty"`

	id plan.ID
}

// Results of writes.
const (
	resultKept   = "kept"
	resultFailed = "failed"
)

var resultOf = map[writer.Operation]string{writer.Apply: "applied", writer.Delete: "deleted", writer.Release: "released"}

// applyResults collects results, and prints those that changed something as they arrive. Its methods may be called
// concurrently.
type applyResults struct {
	options *repoApplyOptions
	target  *target
	before  *plan.State
	line    *cli.Progress
	total   int

	mu        sync.Mutex
	done      int
	unchanged int
	results   []applyResult
	kept      map[plan.ID]bool
}

// add records the result of a write. An object whose version is the same as before was not changed by it.
func (a *applyResults) add(operation writer.Operation, id plan.ID, path string, err error) {
	if operation == writer.Apply && err == nil {
		live, exists := a.target.cluster.Live(id)
		if before, existed := a.before.Live[id]; existed == exists && before.Version == live.Version {
			a.skip()
			return
		}
	}
	a.report(operation, id, path, err)
}

// skip counts an object that is as it should be.
func (a *applyResults) skip() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.unchanged++
	a.advance()
}

// keep records an object that is not deleted.
func (a *applyResults) keep(id plan.ID, reason error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	// What is in use is found twice if there is a question.
	if a.kept[id] {
		return
	}
	if a.kept == nil {
		a.kept = map[plan.ID]bool{}
	}
	a.kept[id] = true
	a.append(applyResult{Result: resultKept, Message: cli.ServerMessage(reason), id: id})
}

// report records and prints the result of a write that changes something, or fails.
func (a *applyResults) report(operation writer.Operation, id plan.ID, path string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := applyResult{Result: resultOf[operation], Path: path, id: id}
	if err != nil {
		r.Result, r.Message = resultFailed, cli.ServerMessage(err)
	}
	a.append(r)
	a.advance()
}

func (a *applyResults) append(r applyResult) {
	r.Group, r.Kind, r.Namespace, r.Name = r.id.Kind.Group, r.id.Kind.Kind, r.id.Namespace, r.id.Name
	a.results = append(a.results, r)
	if a.options.output.Format != "" {
		return
	}
	a.line.Clear()
	if r.Message != "" {
		_, _ = io.WriteString(a.options.ErrOut, names.Line("%s: %s: %s", r.id, r.Result, r.Message))
		return
	}
	_, _ = io.WriteString(a.options.Out, names.Line("%s %s%s", r.id, r.Result, a.options.dryRun.Suffix()))
}

func (a *applyResults) advance() {
	a.done++
	a.line.Showf("%d of %d objects ...", a.done, a.total)
}

func (a *applyResults) count(result string) int {
	n := 0
	for i := range a.results {
		if a.results[i].Result == result {
			n++
		}
	}
	return n
}

func (a *applyResults) failures() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.count(resultFailed)
}

// conclude prints the summary. It returns an error if a write failed, or was not tried, and cli.ErrFound if objects
// that have left the repository were kept: they may grant what was revoked.
func (a *applyResults) conclude(ctx context.Context) error {
	a.line.Clear()
	slices.SortFunc(a.results, func(x, y applyResult) int { return strings.Compare(x.id.String(), y.id.String()) })
	printed, err := a.options.output.Print(a.options.Out, map[string]any{"results": a.results, "unchanged": a.unchanged}, nil)
	if !printed {
		_, err = fmt.Fprintf(a.options.Out, "objects applied: %d, unchanged: %d, deleted: %d, released: %d, kept: %d, failed: %d%s\n",
			a.count(resultOf[writer.Apply]), a.unchanged, a.count(resultOf[writer.Delete]), a.count(resultOf[writer.Release]), a.count(resultKept),
			a.count(resultFailed), a.options.dryRun.Suffix())
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case a.count(resultFailed) > 0:
		return cli.ErrReported
	case a.count(resultKept) > 0:
		return cli.ErrFound
	}
	return nil
}
