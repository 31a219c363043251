package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

// measureSize measures how many bytes etcd holds for what we write, and how many the API server sends of it.
func measureSize(ctx context.Context, b *bench) error {
	if err := b.up(ctx); err != nil {
		return err
	}
	etcd, err := b.etcd()
	if err != nil {
		return err
	}
	defer func() { _ = etcd.Close() }()
	deep, wide := plan("size-deep", "skewer", 41), plan("size-wide", "wide", b.part()+1)
	for _, t := range []tree{deep, wide} {
		if err := b.createNamespaces(ctx, t.names); err != nil {
			return err
		}
		if _, err := b.setParents(ctx, t, 0); err != nil {
			return err
		}
	}
	if err := b.createNamespaces(ctx, []string{"size-plain"}); err != nil {
		return err
	}
	if err := b.metered().idle(ctx); err != nil {
		return err
	}
	return errors.Join(b.sizeOfTrees(ctx, etcd, deep, wide), b.sizeOfCopies(ctx, etcd, wide))
}

// sizeOfTrees measures namespaces, hierarchies and edges.
func (b *bench) sizeOfTrees(ctx context.Context, etcd stored, deep, wide tree) error {
	const namespaces = "/registry/namespaces"
	plain, err := etcd.bytes(ctx, namespaces, "size-plain")
	if err != nil {
		return err
	}
	var errs []error
	for _, depth := range []int{1, 3, 10, 40} {
		size, err := etcd.bytes(ctx, namespaces, deep.names[depth])
		s := series{values: []float64{size}, raws: []float64{plain}}
		errs = append(errs, err, b.report(fmt.Sprintf("size-namespace-%d", depth), "B", 1, s, none,
			fmt.Sprintf("etcd's key and value of a namespace %d below its root, of names of %d characters; without HNS, one without labels", depth, len(deep.root()))))
	}
	leaf, err := etcd.bytes(ctx, controlplane.EtcdPrefix, "hierarchies/"+wide.names[1]+"/hierarchy")
	errs = append(errs, err, b.report("size-hierarchy", "B", 1, series{values: []float64{leaf}}, none, "etcd's key and value of a leaf's Hierarchy"))
	edge, err := etcd.bytes(ctx, controlplane.EtcdPrefix, "edges/"+wide.names[1])
	errs = append(errs, err, b.report("size-edge", "B", 1, series{values: []float64{edge}}, none, "etcd's key and value of an edge"))
	one, err := etcd.bytes(ctx, controlplane.EtcdPrefix, "hierarchies/"+deep.root()+"/hierarchy")
	errs = append(errs, err)
	all, err := etcd.bytes(ctx, controlplane.EtcdPrefix, "hierarchies/"+wide.root()+"/hierarchy")
	n := wide.len() - 1
	errs = append(errs, err, b.report("size-child", "B", n, series{values: []float64{(all - one) / float64(n-1)}}, none,
		fmt.Sprintf("what each child adds to its parent's Hierarchy; names have %d characters", len(wide.root()))))
	return errors.Join(errs...)
}

// sizeOfCopies measures copies of one kind.
func (b *bench) sizeOfCopies(ctx context.Context, etcd stored, t tree) error {
	k, descendants := b.kinds()[0], t.names[1:]
	before, err := etcd.inUse(ctx)
	if err != nil {
		return err
	}
	if _, err := (propagation{b}).copied(ctx, t.root(), "size", "size", descendants); err != nil {
		return err
	}
	after, err := etcd.inUse(ctx)
	if err != nil {
		return err
	}
	const name = "size-0"
	n := b.Objects * len(descendants) * len(b.kinds())
	if err := k.create(ctx, b.kube, k.named("size-plain", name, "size")); err != nil {
		return err
	}
	folder := "/registry/" + k.Resource
	copied, err := etcd.bytes(ctx, folder, descendants[0]+"/"+name)
	if err != nil {
		return err
	}
	plain, err := etcd.bytes(ctx, folder, "size-plain/"+name)
	if err != nil {
		return err
	}
	errs := []error{
		b.report("size-copy", "B", 1, series{values: []float64{copied}, raws: []float64{plain}}, none, "etcd's key and value of a copy, one of ", k.Resource, "; without HNS, a plain one"),
	}
	if !b.Quick { // A database has pages: it takes many copies to see what one takes.
		errs = append(errs, b.report("size-copy-database", "B", n, series{values: []float64{(after - before) / float64(n)}}, none,
			"growth of etcd's database by copy, in use after compaction"))
	}
	for _, form := range []struct{ name, accept string }{
		{"json", runtime.ContentTypeJSON},
		{"protobuf", runtime.ContentTypeProtobuf},
		{"metadata", runtime.ContentTypeProtobuf + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"},
	} {
		sent, err := k.client(b.kube).Get().Namespace(descendants[0]).Resource(k.Resource).Name(name).SetHeader("Accept", form.accept).Do(ctx).Raw()
		errs = append(errs, err, b.report("size-copy-"+form.name, "B", 1, series{values: []float64{float64(len(sent))}}, none, "what the API server sends of a copy as ", form.accept))
	}
	return errors.Join(errs...)
}

// stored is what is in the control plane's etcd.
type stored struct {
	*clientv3.Client
	endpoint string
}

func (c *cluster) etcd() (stored, error) {
	access, err := c.cp.Etcd()
	if err != nil {
		return stored{}, err
	}
	config, err := access.TLS()
	if err != nil {
		return stored{}, err
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: access.Endpoints, TLS: config, DialTimeout: 10 * time.Second, Logger: zap.NewNop()})
	return stored{client, access.Endpoints[0]}, err
}

// bytes returns the size of the one key that lies in a folder, or deeper in it, and ends with the name, including its
// value.
func (s stored) bytes(ctx context.Context, folder, name string) (float64, error) {
	answer, err := s.Get(ctx, folder, clientv3.WithPrefix())
	if err != nil {
		return 0, err
	}
	for _, kv := range answer.Kvs {
		if strings.HasSuffix(string(kv.Key), "/"+name) {
			return float64(len(kv.Key) + len(kv.Value)), nil
		}
	}
	return 0, fmt.Errorf("etcd has no %s in %s", name, folder)
}

// inUse returns the size of the database without its history.
func (s stored) inUse(ctx context.Context) (float64, error) {
	now, err := s.Get(ctx, "/", clientv3.WithKeysOnly(), clientv3.WithLimit(1))
	if err != nil {
		return 0, err
	}
	if _, err := s.Compact(ctx, now.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		return 0, err
	}
	if _, err := s.Defragment(ctx, s.endpoint); err != nil {
		return 0, err
	}
	status, err := s.Status(ctx, s.endpoint)
	if err != nil {
		return 0, err
	}
	return float64(status.DbSizeInUse), nil
}
