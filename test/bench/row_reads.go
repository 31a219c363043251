package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// acrossSubtree is the resource that serves a kind in a whole subtree.
func acrossSubtree(k schema.GroupVersionResource) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "resources.hnc.x-k8s.io", Version: "v1alpha2", Resource: strings.TrimPrefix(k.Group+"."+k.Resource, ".")}
}

// path returns where the kind's objects in a namespace are, in all for "".
func path(resource schema.GroupVersionResource, namespace string) string {
	p := "/apis/" + resource.GroupVersion().String()
	if resource.Group == "" {
		p = "/api/" + resource.Version
	}
	if namespace != "" {
		p += "/namespaces/" + namespace
	}
	return p + "/" + resource.Resource
}

var hierarchiesResource = v1beta1.SchemeGroupVersion.WithResource("hierarchies")

// treePath returns where the tree below a namespace is.
func treePath(root string) string {
	return path(hierarchiesResource, root) + "/" + hnc.Singleton + "/tree"
}

// comparedRead is a request that returns the bytes of the response, and one that is as close to it as can be without
// us.
type comparedRead struct {
	name      string
	n         int
	ours, raw func(context.Context) ([]byte, error)
	about     string
}

// measureReads measures reads of the whole forest and of its largest subtree of at most a tenth while all copies are
// resident.
func measureReads(ctx context.Context, b *bench) error {
	if err := b.populate(ctx); err != nil {
		return err
	}
	reads, top, err := readsOf(ctx, b)
	if err != nil {
		return err
	}
	if err := b.metered().resetPeakMemory(apiserver); err != nil {
		return err
	}
	for _, r := range reads {
		if err := r.measure(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	if err := measureWatches(ctx, b, top); err != nil {
		return err
	}
	peak, err := b.metered().peakMemory(apiserver)
	if err != nil {
		return err
	}
	return b.report("reads-memory", "MB", b.forest.len(), series{values: []float64{peak}}, none, "peak RSS of hns-apiserver during these reads")
}

// readsOf returns the reads, and the root of that subtree.
func readsOf(ctx context.Context, b *bench) (reads []comparedRead, top string, err error) {
	root, k := b.forest.root(), b.kinds()[0]
	top = b.forest.names[b.forest.largest()]
	below, err := b.below(ctx, top)
	if err != nil {
		return nil, "", err
	}
	subtree := append([]string{top}, below...)
	plan, err := json.Marshal(v1alpha3.HierarchyPlan{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha3.SchemeGroupVersion.String(), Kind: "HierarchyPlan"},
		Spec:     v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent},
	})
	if err != nil {
		return nil, "", err
	}
	get := func(path string) func(context.Context) ([]byte, error) {
		return func(ctx context.Context) ([]byte, error) { return b.readJSON(ctx, path) }
	}
	each := func(ctx context.Context) (all []byte, err error) {
		for _, namespace := range subtree {
			one, err := b.readJSON(ctx, path(k.GroupVersionResource, namespace))
			if err != nil {
				return nil, err
			}
			all = append(all, one...)
		}
		return all, nil
	}
	namespaces, own := get(path(namespacesResource, "")), path(v1alpha3.SchemeGroupVersion.WithResource("mynamespaces"), "")
	const listsNamespaces, listsEach = "raw lists all namespaces", "raw lists the objects of each namespace of the subtree, one after another"
	return []comparedRead{
		{"reads-tree", b.forest.len(), get(treePath(root)), namespaces, listsNamespaces},
		{"reads-mynamespaces", b.forest.len(), get(own), namespaces, listsNamespaces},
		{"reads-subtree", len(subtree), get(path(acrossSubtree(k.GroupVersionResource), top)), each, listsEach},
		{"reads-plan", len(subtree), func(ctx context.Context) ([]byte, error) {
			return b.hierarchy.HncV1beta1().RESTClient().Post().AbsPath(path(hierarchiesResource, top), hnc.Singleton, "plan").
				SetHeader("Content-Type", "application/json").Body(plan).Do(ctx).Raw()
		}, each, listsEach},
	}, top, nil
}

// longestRead is how long reads are repeated in each round, at least five times.
const longestRead = 30 * time.Second

// measure alternates both reads.
func (r comparedRead) measure(ctx context.Context, b *bench) error {
	var p50, p99, size series
	// The first mynamespaces reads all roles and bindings.
	if _, err := r.ours(ctx); err != nil {
		return err
	}
	err := b.each(func(int) error {
		return profiler{b}.profiled(ctx, r.name, func() error {
			n := b.pick(50, 2)
			var took [2][]time.Duration
			var bytes [2]float64
			for start := time.Now(); len(took[0]) < n && (len(took[0]) < 5 || time.Since(start) < longestRead); {
				for side, ask := range []func(context.Context) ([]byte, error){r.ours, r.raw} {
					begun := time.Now()
					answer, err := ask(ctx)
					if err != nil {
						return err
					}
					took[side], bytes[side] = append(took[side], time.Since(begun)), float64(len(answer))
				}
			}
			p50.add(percentile(milliseconds(took[0]), 0.5), percentile(milliseconds(took[1]), 0.5))
			p99.add(percentile(milliseconds(took[0]), 0.99), percentile(milliseconds(took[1]), 0.99))
			size.add(bytes[0], bytes[1])
			return nil
		})
	})
	if err != nil {
		return err
	}
	return errors.Join(
		b.report(r.name+"-p50", "ms", r.n, p50, none, r.about),
		b.report(r.name+"-p99", "ms", r.n, p99, none, r.about),
		b.report(r.name+"-bytes", "B", r.n, size, none, r.about))
}
