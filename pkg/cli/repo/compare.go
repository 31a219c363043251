package repo

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/changes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/preview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/writer"
)

// comparison is what applying an object would do.
type comparison struct {
	object *plan.Object
	// change is "" for an object that would not change.
	change changes.Change
	fields []string
	err    error
}

// compare compares the objects that a plan applies with the cluster, and calls found for each, one at a time.
func (t *target) compare(ctx context.Context, name string, p *plan.Plan, found func(comparison)) error {
	previewer, err := preview.New(t.config, t.cluster, name)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	for _, objects := range append(p.Apply[:], p.Late) {
		writer.Concurrently(ctx, objects, func(o *plan.Object) {
			c := comparison{object: o}
			c.change, c.fields, c.err = previewer.Compare(ctx, o)
			mu.Lock()
			defer mu.Unlock()
			found(c)
		})
	}
	return ctx.Err()
}

// runLive compares the repository with the cluster.
func (o *repoDiffOptions) runLive(ctx context.Context) error {
	t, err := o.target.open(ctx, o.factory, &o.repo, o.ErrOut)
	if err != nil {
		return err
	}
	t.warnUnknown(o.ErrOut, nil)
	state := t.state()
	prune := t.sync == nil || t.sync.Spec.Prune
	p := plan.Compute(t.desired, state, prune)
	if !o.target.allowNonEmpty {
		for id, reason := range (&writer.Writer{Cluster: t.cluster}).KeepInUse(ctx, p) {
			cli.Warnf(o.ErrOut, "%s: %s", id, cli.ServerMessage(reason))
		}
	}
	found, failed, err := o.liveChanges(ctx, t, p)
	if err != nil {
		return err
	}
	var unsafe report.Errors
	if prune {
		unsafe = t.unsafe(state, o.target.allowMass)
	}
	printed, err := o.output.Print(o.Out, clusterChanges{Changes: found, Errors: unsafe}, nil)
	if !printed {
		_, err = fmt.Fprint(o.Out, found.Text())
		printErrors(o.ErrOut, "", unsafe)
	}
	for _, c := range failed {
		_, _ = io.WriteString(o.ErrOut, names.Line("%s: %s", c.object, cli.ServerMessage(c.err)))
	}
	return o.result(err, len(unsafe)+len(failed) > 0, found.Text() != "")
}

// liveChanges returns what a synchronization would change in the cluster, and the objects that could not be compared.
func (o *repoDiffOptions) liveChanges(ctx context.Context, t *target, p *plan.Plan) (*changes.Changes, []comparison, error) {
	all := &changes.Changes{Namespaces: []changes.Namespace{}, Objects: []changes.Object{}}
	directories := map[string][]string{}
	for i := range t.result.Namespaces {
		directories[t.result.Namespaces[i].Name] = t.result.Namespaces[i].AbstractAncestors
	}
	var failed []comparison
	line := cli.NewProgress(o.ErrOut)
	defer line.Clear()
	done := 0
	err := t.compare(ctx, o.target.name, p, func(c comparison) {
		done++
		line.Showf("comparing object %d of %d ...", done, p.Len())
		switch {
		case c.err != nil:
			failed = append(failed, c)
		case c.change == "":
		case isNamespace(c.object.ID):
			all.Namespaces = append(all.Namespaces, changes.Namespace{Change: c.change, Name: c.object.Name, To: directories[c.object.Name], Fields: c.fields})
		default:
			all.Objects = append(all.Objects, changeOf(c.change, c.object.ID, c.object.Path, c.fields))
		}
	})
	for _, id := range slices.Concat(p.Delete, p.DeleteNamespaces) {
		if isNamespace(id) {
			all.Namespaces = append(all.Namespaces, changes.Namespace{Change: changes.Removed, Name: id.Name})
		} else {
			all.Objects = append(all.Objects, changeOf(changes.Removed, id, "", nil))
		}
	}
	all.Sort()
	slices.SortFunc(failed, func(a, b comparison) int { return plan.CompareIDs(a.object.ID, b.object.ID) })
	return all, failed, err
}

func isNamespace(id plan.ID) bool { return id.Kind == object.Namespace }

func changeOf(change changes.Change, id plan.ID, path string, fields []string) changes.Object {
	return changes.Object{Change: change, Group: id.Kind.Group, Kind: id.Kind.Kind, Namespace: id.Namespace, Name: id.Name, Path: path, Fields: fields}
}
