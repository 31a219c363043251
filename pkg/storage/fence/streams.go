package fence

import (
	"context"

	"google.golang.org/grpc/metadata"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// ownStream gives the watches of a name a stream of their own. etcd's client uses one stream for all watches with equal
// metadata, and etcd reports the progress of a stream only when each of its watches has begun. A watch after a list
// begins with the next write; where nothing is written, all others would wait for it.
func ownStream(ctx context.Context, name string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "watch-of", name)
}

// separateStorage is a storage whose watches have a stream of their own. The generic API server has a client per
// resource instead.
type separateStorage struct {
	storage.Interface
	name string
}

func (s separateStorage) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	return s.Interface.Watch(ownStream(ctx, s.name), key, opts)
}

func (s separateStorage) RequestWatchProgress(ctx context.Context) error {
	return s.Interface.RequestWatchProgress(ownStream(ctx, s.name))
}
