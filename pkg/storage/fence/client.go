package fence

import (
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	"k8s.io/client-go/tools/cache"
)

// Client is the etcd client that the guarded resources of a server and their edges share.
type Client struct {
	client    *kubernetes.Client
	config    storagebackend.Config
	revisions *revisions
}

// NewClient connects to the etcd cluster that config names.
func NewClient(config storagebackend.Config) (*Client, error) {
	t := config.Transport
	etcd := clientv3.Config{
		Endpoints:            t.ServerList,
		DialTimeout:          20 * time.Second,
		DialKeepAliveTime:    30 * time.Second,
		DialKeepAliveTimeout: 10 * time.Second,
		// Errors are returned to the request that they concern; the log of the client would repeat them.
		Logger: zap.NewNop(),
	}
	// A nil TLS configuration stands for plain connections.
	if t.CertFile != "" || t.KeyFile != "" || t.TrustedCAFile != "" {
		tls, err := transport.TLSInfo{CertFile: t.CertFile, KeyFile: t.KeyFile, TrustedCAFile: t.TrustedCAFile}.ClientConfig()
		if err != nil {
			return nil, fmt.Errorf("client certificate for etcd: %w", err)
		}
		etcd.TLS = tls
	}
	client, err := kubernetes.New(etcd)
	if err != nil {
		return nil, fmt.Errorf("etcd client for %v: %w", t.ServerList, err)
	}
	revisions := &revisions{restored: func(error) {}}
	client.KV = retriable{etcd3.NewETCDLatencyTracker(observed{client.KV, revisions})}
	client.Kubernetes = &guardedClient{Interface: client.Kubernetes, kv: client.KV, prefix: config.Prefix, onLost: lostFences.Inc}
	return &Client{client: client, config: config, revisions: revisions}, nil
}

// OnRestored has a function called when etcd turns out to have been restored to an earlier state, each time that it
// answers so: no cache of this process is right then. Call it before the first request.
func (c *Client) OnRestored(restored func(error)) { c.revisions.restored = restored }

// Edges returns the edges that the guarded writes of this client compare and write.
func (c *Client) Edges() *Edges {
	return &Edges{client: c.client.Client, prefix: c.config.Prefix, progress: newProgress()}
}

// Close closes the connection. No store may use the client afterwards.
func (c *Client) Close() error { return c.client.Close() }

// Decorator returns the storage decorator of resources: etcd3 and the watch cache as the generic registry sets them up,
// on a client whose writes honor their Guard. The generic decorator creates its own client.
func (c *Client) Decorator() generic.StorageDecorator {
	return func(config *storagebackend.ConfigForResource, resourcePrefix string, keyFunc func(runtime.Object) (string, error),
		newFunc, newListFunc func() runtime.Object, attrFunc storage.AttrFunc, triggers storage.IndexerFuncs,
		indexers *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
		transformer := config.Transformer
		if transformer == nil {
			transformer = identity.NewEncryptCheckTransformer()
		}
		var compactor etcd3.Compactor
		if config.CompactionInterval > 0 {
			// There is one per endpoint for all resources, which runs as long as the process does.
			compactor = etcd3.StartCompactorPerEndpoint(c.client.Client, config.CompactionInterval)
		}
		versioner := storage.APIObjectVersioner{}
		raw, err := etcd3.New(c.client, compactor, config.Codec, newFunc, newListFunc, config.Prefix, resourcePrefix,
			config.GroupResource, transformer, config.LeaseManagerConfig, etcd3.NewDefaultDecoder(config.Codec, versioner), versioner)
		if err != nil {
			return nil, nil, err
		}
		cached, err := cacher.NewCacherFromConfig(cacher.Config{
			Storage:             separateStorage{raw, config.GroupResource.String()},
			Versioner:           versioner,
			GroupResource:       config.GroupResource,
			EventsHistoryWindow: config.EventsHistoryWindow,
			ResourcePrefix:      resourcePrefix,
			KeyFunc:             keyFunc,
			NewFunc:             newFunc,
			NewListFunc:         newListFunc,
			GetAttrsFunc:        attrFunc,
			IndexerFuncs:        triggers,
			Indexers:            indexers,
			Codec:               config.Codec,
		})
		if err != nil {
			return nil, nil, err
		}
		delegator := cacher.NewCacheDelegator(cached, raw)
		var once sync.Once
		return delegator, func() {
			once.Do(func() {
				delegator.Stop()
				cached.Stop()
				raw.Close()
			})
		}, nil
	}
}
