package reservations

import (
	"context"
	"errors"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// prune deletes the records of subtrees that have no quota any more, and those of trees once there is no quota at all.
// Each decision that compares such a record also compares the limits, and has read limits that need the record. So one
// that did not find the record is lost even if it was written and deleted since: the limits have changed in between.
// A new quota compares only its namespace's record in QuotasFolder: that is deleted when no other quota is left there,
// so that none takes room that the decision did not count.
func (l *Ledger) prune(ctx context.Context) error {
	known, err := l.config.Limits.Get(ctx, true)
	if err != nil {
		return err
	}
	var unneeded []fence.Entry
	for _, records := range []struct {
		folder string
		needed func(namespace string) bool
	}{
		{limits.LedgerFolder, known.Counted},
		{limits.ChildrenFolder, func(namespace string) bool { name, _ := known.Subnamespaces(namespace); return name != "" }},
		{limits.QuotasFolder, func(namespace string) bool { return !known.None(namespace) }},
		{limits.TreesFolder, func(string) bool { return !known.Empty() }},
	} {
		for entry, err := range l.config.Records.List(ctx, records.folder) {
			if err != nil {
				return err
			}
			if !records.needed(strings.TrimPrefix(entry.Name, records.folder+"/")) {
				unneeded = append(unneeded, fence.Entry{Name: entry.Name, Revision: entry.Revision})
			}
		}
	}
	for len(unneeded) > 0 {
		n := min(len(unneeded), maxOperations-1)
		t := &fence.Transaction{Unchanged: map[string]int64{limits.Record: known.Revision}}
		for _, entry := range unneeded[:n] {
			t.Unchanged[entry.Name] = entry.Revision
			t.Delete = append(t.Delete, entry.Name)
		}
		// The next check finds what is left after a lost fence.
		if _, err := l.config.Records.Commit(ctx, t); err != nil && !errors.Is(err, fence.ErrLost) {
			return err
		}
		unneeded = unneeded[n:]
	}
	return nil
}
