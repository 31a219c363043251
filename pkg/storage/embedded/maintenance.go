package embedded

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"k8s.io/klog/v2"
)

const (
	// maintainEvery is the time between two looks at the database, which cost nothing, and retryAfter that after one
	// which could not free enough.
	maintainEvery = time.Second
	retryAfter    = time.Minute
	// worthwhile is how many bytes a defragmentation must free. Writes wait for as long as it takes to copy what is in
	// use.
	worthwhile = 64 << 20
)

// database is what is known of the size of etcd's database, in bytes. etcd counts the file against its quota, with the
// free pages in it.
type database struct {
	file, used, quota int64
	// full is true after etcd has refused a write because of the quota.
	full bool
}

// fragmented reports whether so much of the file is free that it is worth to copy the rest.
func (d database) fragmented() bool {
	free := d.file - d.used
	return free >= worthwhile && free > d.file/2 || d.file > d.quota/4*3 && free > d.file/5
}

// maintain defragments the database when that frees much, and ends the refusal of writes by an etcd that had reached
// its quota, until ctx is done. Nobody else does: the compaction of the API server frees pages in the file only.
func (e *Etcd) maintain(ctx context.Context) {
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		next.Reset(maintainEvery)
		if err := e.free(ctx); err != nil && ctx.Err() == nil {
			klog.ErrorS(err, "The embedded etcd could not be defragmented")
			next.Reset(retryAfter)
		}
	}
}

func (e *Etcd) database() database {
	backend := e.server.Server.Backend()
	return database{
		file: backend.Size(), used: backend.SizeInUse(), quota: e.quota,
		full: slices.ContainsFunc(e.server.Server.Alarms(), func(a *etcdserverpb.AlarmMember) bool { return a.Alarm == etcdserverpb.AlarmType_NOSPACE }),
	}
}

// free frees what it can. If etcd has reached its quota, that includes the history: watches that need it start again.
func (e *Etcd) free(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.database()
	if before.full {
		if err := e.compact(ctx); err != nil {
			return err
		}
	}
	if !before.full && !before.fragmented() {
		return nil
	}
	begin := time.Now()
	if err := e.server.Server.Defragment(); err != nil {
		return err
	}
	after := e.database()
	klog.InfoS("The embedded etcd was defragmented", "bytesBefore", before.file, "bytes", after.file, "quota", e.quota, "duration", time.Since(begin))
	if !before.full {
		return nil
	}
	if after.file > e.quota/10*9 {
		return fmt.Errorf("it has reached its quota: its objects take %d of %d bytes; delete some, or raise --embedded-etcd-quota-bytes", after.used, e.quota)
	}
	_, err := e.server.Server.Alarm(ctx, &etcdserverpb.AlarmRequest{
		Action: etcdserverpb.AlarmRequest_DEACTIVATE, Alarm: etcdserverpb.AlarmType_NOSPACE, MemberID: uint64(e.server.Server.MemberID()),
	})
	return err
}

// compact removes the history up to now.
func (e *Etcd) compact(ctx context.Context) error {
	revision := e.server.Server.KV().Rev()
	if revision <= e.compacted {
		return nil
	}
	if _, err := e.server.Server.Compact(ctx, &etcdserverpb.CompactionRequest{Revision: revision, Physical: true}); err != nil {
		return fmt.Errorf("cannot compact the history: %w", err)
	}
	e.compacted = revision
	return nil
}
