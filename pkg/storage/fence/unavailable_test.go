package fence

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// failing is an etcd all of whose requests fail.
type failing struct {
	clientv3.KV
	err error
}

func (f failing) Get(context.Context, string, ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	return nil, f.err
}
func (f failing) Txn(context.Context) clientv3.Txn { return failingTxn{err: f.err} }

type failingTxn struct {
	clientv3.Txn
	err error
}

func (f failingTxn) If(...clientv3.Cmp) clientv3.Txn        { return f }
func (f failingTxn) Then(...clientv3.Op) clientv3.Txn       { return f }
func (f failingTxn) Else(...clientv3.Op) clientv3.Txn       { return f }
func (f failingTxn) Commit() (*clientv3.TxnResponse, error) { return nil, f.err }

func TestErrorsOfAvailabilityAreAPIErrors(t *testing.T) {
	refused := status.Error(codes.Unavailable, "connection refused")
	rejected := status.Error(codes.InvalidArgument, "no")
	for _, c := range []struct {
		err         error
		read, write int
	}{
		{rpctypes.Error(rpctypes.ErrGRPCLeaderChanged), http.StatusServiceUnavailable, http.StatusGatewayTimeout},
		{rpctypes.Error(rpctypes.ErrGRPCTimeoutDueToLeaderFail), http.StatusServiceUnavailable, http.StatusGatewayTimeout},
		{refused, http.StatusServiceUnavailable, http.StatusGatewayTimeout},
		{rpctypes.Error(rpctypes.ErrGRPCNoSpace), 0, http.StatusServiceUnavailable},
		{rpctypes.Error(rpctypes.ErrGRPCTooManyOps), 0, http.StatusRequestEntityTooLarge},
		{rpctypes.Error(rpctypes.ErrGRPCCompacted), 0, 0},
		{rejected, 0, 0},
		{context.DeadlineExceeded, 0, 0},
		{nil, 0, 0},
	} {
		kv := retriable{failing{err: c.err}}
		_, read := kv.Get(t.Context(), "key")
		_, write := kv.Txn(t.Context()).If().Then(clientv3.OpPut("key", "")).Else().Commit()
		for verb, got := range map[string]struct {
			err  error
			code int
		}{"read": {read, c.read}, "write": {write, c.write}} {
			if got.code == 0 {
				if !errors.Is(got.err, c.err) {
					t.Errorf("%s: %v is returned as %v", verb, c.err, got.err)
				}
				continue
			}
			var s apierrors.APIStatus
			if !errors.As(got.err, &s) || int(s.Status().Code) != got.code {
				t.Errorf("%s: %v is returned as %v, want code %d", verb, c.err, got.err, got.code)
			}
			if seconds, retry := apierrors.SuggestsClientDelay(got.err); retry && seconds > 0 {
				t.Errorf("%s: Retry-After makes clients repeat %v", verb, c.err)
			}
		}
	}
}
