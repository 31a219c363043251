package fence

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// retriable returns errors of etcd's availability as API errors that clients recognize. The generic registry returns
// them as they are, which clients see as an internal error without a reason.
type retriable struct{ clientv3.KV }

func (r retriable) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	response, err := r.KV.Get(ctx, key, opts...)
	return response, readError(err)
}

func (r retriable) Txn(ctx context.Context) clientv3.Txn { return retriableTxn{Txn: r.KV.Txn(ctx)} }

type retriableTxn struct {
	clientv3.Txn
	// writes reports that an operation is no read.
	writes bool
}

func (t retriableTxn) If(cs ...clientv3.Cmp) clientv3.Txn {
	return retriableTxn{t.Txn.If(cs...), t.writes}
}

func (t retriableTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	return retriableTxn{t.Txn.Then(ops...), t.writes || slices.ContainsFunc(ops, isWrite)}
}

func (t retriableTxn) Else(ops ...clientv3.Op) clientv3.Txn {
	return retriableTxn{t.Txn.Else(ops...), t.writes || slices.ContainsFunc(ops, isWrite)}
}

func isWrite(op clientv3.Op) bool { return !op.IsGet() }

func (t retriableTxn) Commit() (*clientv3.TxnResponse, error) {
	response, err := t.Txn.Commit()
	if !t.writes {
		return response, readError(err)
	}
	return response, writeError(err)
}

// readError returns 503 if etcd was not available.
func readError(err error) error {
	if !unavailable(err) {
		return err
	}
	return apierrors.NewServiceUnavailable(fmt.Sprintf("etcd is not available, try again: %v", err))
}

// writeError returns 504 if etcd did not confirm a write, which may have been made. Without Retry-After, because
// clients repeat such requests by themselves, and a creation that was made would be rejected the second time. It
// returns 503 if etcd is full, and 413 if the write depends on more entries than etcd compares in a transaction.
func writeError(err error) error {
	switch {
	case errors.Is(err, rpctypes.ErrNoSpace):
		return apierrors.NewServiceUnavailable(fmt.Sprintf("etcd has reached its quota and accepts no writes; compact and defragment it, and disarm its alarm: %v", err))
	case errors.Is(err, rpctypes.ErrTooManyOps):
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the tree is too deep, or has too many hierarchical quotas one below another, for a transaction of etcd; "+
			"move an ancestor first, or remove quotas: %v", err))
	case unavailable(err):
		return apierrors.NewTimeoutError(fmt.Sprintf("etcd did not confirm the write, which may have been made; read the object, or try again: %v", err), 0)
	}
	return err
}

// unavailable reports whether the etcd of an error could not be reached, or had no leader.
func unavailable(err error) bool {
	var etcd rpctypes.EtcdError
	if errors.As(err, &etcd) {
		return etcd.Code() == codes.Unavailable
	}
	s, ok := status.FromError(err)
	return ok && s.Code() == codes.Unavailable
}
