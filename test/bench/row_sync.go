package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	gogit "github.com/go-git/go-git/v5"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

const (
	hnsSync = hnc.SyncName
	// syncWriters is how many objects hns-sync writes at a time.
	syncWriters = 16
	// inherited is how many objects each namespace inherits.
	inherited = 10
	// idleCycles is how many cycles without changes are measured; each is a second long.
	idleCycles = 10
)

// measureSync has hns-sync apply a repository for the first time, against server-side apply of the same objects by as
// many plain writers. Then it measures cycles without changes. What is first alternates.
func measureSync(ctx context.Context, b *bench) error {
	s := syncer{b, filepath.Join(b.dir, "repositories")}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	n := b.pick(200, 4)
	var first, idle series
	err := b.each(func(round int) error {
		var took [2]time.Duration
		for i := range 2 {
			var err error
			which := (i + round) % 2
			b.calm(ctx)
			if which == 0 {
				took[0], err = s.synced(ctx, fmt.Sprintf("sync-%d", round), n)
			} else {
				took[1], err = s.plain(ctx, fmt.Sprintf("plain-%d", round), n)
			}
			if err != nil {
				return err
			}
		}
		b.sayf("hns-sync %s, plain %s", took[0], took[1])
		first.add(took[0].Seconds(), took[1].Seconds())
		if !b.Quick {
			b.calm(ctx)
			idle.values = append(idle.values, float64(s.idle())/float64(time.Millisecond)/idleCycles)
		}
		return s.remove(ctx, fmt.Sprintf("sync-%d", round))
	})
	if err := errors.Join(err, b.cp.StopProcess(ctx, hnsSync)); err != nil {
		return err
	}
	objects := n * (1 + inherited)
	if err := b.report("sync", "s", objects, first, ratioAtMost(1.3), fmt.Sprintf("%d namespaces, each inherits %d ConfigMaps", n, inherited)); err != nil || b.Quick {
		return err
	}
	return b.report("sync-idle-cpu", "ms", objects, idle, none, "processor time of hns-sync for a cycle in which nothing has changed")
}

// syncer runs hns-sync. local contains its repositories.
type syncer struct {
	*bench
	local string
}

// prepare installs hns-sync, and an account that it applies as.
func (b syncer) prepare(ctx context.Context) error {
	if err := b.up(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(b.local, 0o700); err != nil {
		return err
	}
	var objects []*unstructured.Unstructured
	for _, dir := range []string{"sync", "sample-sync"} {
		rendered, err := b.cp.Render(ctx, filepath.Join(b.Root, "artifacts", dir))
		if err != nil {
			return err
		}
		for _, o := range rendered {
			// It runs as a process; the rounds have RepositorySyncs of their own.
			if kind := o.GetKind(); kind != "Deployment" && kind != "RepositorySync" {
				objects = append(objects, o)
			}
		}
	}
	if err := b.cp.Apply(ctx, objects); err != nil {
		return err
	}
	_, err := b.cp.StartServer(ctx, b.installation, controlplane.Server{Name: hnsSync, Args: []string{"--local-repositories=" + b.local}})
	return err
}

// synced returns how long it takes from the creation of a RepositorySync until it is synced.
func (b syncer) synced(ctx context.Context, name string, n int) (time.Duration, error) {
	dir, err := b.commit(name, n)
	if err != nil {
		return 0, err
	}
	s := &v1alpha3.RepositorySync{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha3.RepositorySyncSpec{
		Source:         v1alpha3.RepositorySource{URL: "file://" + dir},
		ServiceAccount: v1alpha3.ServiceAccountReference{Namespace: "hns-repositories", Name: "policy"},
		Interval:       &hnc.Duration{Duration: time.Second}, Prune: true,
	}}
	syncs := b.hierarchy.HncV1alpha3().RepositorySyncs()
	begun := time.Now()
	if _, err := syncs.Create(ctx, s, metav1.CreateOptions{}); err != nil {
		return 0, err
	}
	err = until(ctx, b.Timeout, func(ctx context.Context) error {
		s, err := syncs.Get(ctx, name, metav1.GetOptions{})
		if err == nil && !meta.IsStatusConditionTrue(s.Status.Conditions, hnc.ConditionReady) {
			err = fmt.Errorf("%s is not synced: %v", name, s.Status.Conditions)
		}
		if err == nil && int(s.Status.Objects) != n*(1+inherited) {
			err = fmt.Errorf("%s has %d objects", name, s.Status.Objects)
		}
		return err
	})
	return time.Since(begun), err
}

// commit makes a repository: n namespaces in an abstract directory with the objects that they inherit.
func (b syncer) commit(name string, n int) (string, error) {
	dir, err := filepath.Abs(filepath.Join(b.local, name))
	if err != nil {
		return "", err
	}
	files := map[string]string{"system/repo.yaml": "apiVersion: configmanagement.gke.io/v1\nkind: Repo\nmetadata: {name: repo}\nspec: {version: 1.0.0}\n"}
	for i := range n {
		files[fmt.Sprintf("namespaces/all/%s-%d/namespace.yaml", name, i)] = fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s-%d}\n", name, i)
	}
	for i := range inherited {
		files[fmt.Sprintf("namespaces/all/map-%d.yaml", i)] = fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map-%d}\ndata: {key: %q}\n", i, content)
	}
	for file, text := range files {
		file = filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			return "", err
		}
	}
	repository, err := gogit.PlainInit(dir, false)
	if err != nil {
		return "", err
	}
	tree, err := repository.Worktree()
	if err != nil {
		return "", err
	}
	if err := tree.AddWithOptions(&gogit.AddOptions{All: true}); err != nil {
		return "", err
	}
	_, err = tree.Commit("bench", &gogit.CommitOptions{Author: &gitobject.Signature{Name: "bench", Email: "bench@example.com", When: time.Now()}})
	return dir, err
}

// content is that of each ConfigMap.
const content = "about as much as a small policy has in its specification, and in its rules"

// plain applies as many objects of the same content as plain writers, the namespaces first.
func (b syncer) plain(ctx context.Context, name string, n int) (time.Duration, error) {
	apply := func(ctx context.Context, kind, namespace, object string, data map[string]any) error {
		metadata := map[string]any{
			"name": object, "labels": map[string]any{"bench": name}, "annotations": map[string]any{hnc.AnnotationSourcePath: "namespaces/all/" + object + ".yaml"},
		}
		if namespace != "" {
			metadata["namespace"] = namespace
		}
		o := map[string]any{"apiVersion": "v1", "kind": kind, "metadata": metadata}
		if data != nil {
			o["data"] = data
		}
		resource := schema.GroupVersionResource{Version: "v1", Resource: map[string]string{"Namespace": "namespaces", "ConfigMap": "configmaps"}[kind]}
		_, err := b.dynamic.Resource(resource).Namespace(namespace).Apply(ctx, object, &unstructured.Unstructured{Object: o}, metav1.ApplyOptions{FieldManager: "bench"})
		return err
	}
	begun := time.Now()
	err := byWriters(ctx, n, func(ctx context.Context, i int) error {
		return apply(ctx, "Namespace", "", fmt.Sprintf("%s-%d", name, i), nil)
	})
	if err == nil {
		// hns-sync writes the abstract directory as an abstract ancestor of each namespace.
		err = byWriters(ctx, n, func(ctx context.Context, i int) error {
			h := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"abstractAncestors": []any{"all"}}}}
			h.SetGroupVersionKind(v1beta1.SchemeGroupVersion.WithKind("Hierarchy"))
			h.SetName(hnc.Singleton)
			_, err := b.dynamic.Resource(v1beta1.SchemeGroupVersion.WithResource("hierarchies")).Namespace(fmt.Sprintf("%s-%d", name, i)).
				Apply(ctx, hnc.Singleton, h, metav1.ApplyOptions{FieldManager: "bench"})
			return err
		})
	}
	if err == nil {
		err = byWriters(ctx, n*inherited, func(ctx context.Context, i int) error {
			return apply(ctx, "ConfigMap", fmt.Sprintf("%s-%d", name, i/inherited), fmt.Sprintf("map-%d", i%inherited), map[string]any{"key": content})
		})
	}
	return time.Since(begun), err
}

// byWriters calls f for each number below n, syncWriters at a time.
func byWriters(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range syncWriters {
		group.Go(func() error {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := f(ctx, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// idle returns the processor time of hns-sync while nothing changes.
func (b syncer) idle() time.Duration {
	before := b.spent()[hnsSync]
	time.Sleep(idleCycles * time.Second)
	return b.spent()[hnsSync] - before
}

// remove deletes a RepositorySync. Its namespaces stay, as those of the plain writers do.
func (b syncer) remove(ctx context.Context, name string) error {
	return b.hierarchy.HncV1alpha3().RepositorySyncs().Delete(ctx, name, metav1.DeleteOptions{})
}
