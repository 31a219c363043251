package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// measureTree reads both as JSON, and as bytes: decoding is the client's affair.
func measureTree(ctx context.Context, b *bench) error {
	if err := b.up(ctx); err != nil {
		return err
	}
	const resource = "hierarchies/tree"
	served, err := b.kube.Discovery().ServerResourcesForGroupVersion(v1beta1.SchemeGroupVersion.String())
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == resource }) {
		return b.skip("tree", "the server has no "+resource)
	}
	if err := b.wholeForest(ctx); err != nil {
		return err
	}
	var s series
	err = b.each(func(round int) error {
		var raw, took time.Duration
		err := inTurns(round, func() error {
			begun := time.Now()
			_, err := b.readJSON(ctx, path(namespacesResource, ""))
			raw = time.Since(begun)
			return err
		}, func() error {
			return profiler{b}.profiled(ctx, "tree", func() error {
				begun := time.Now()
				answer, err := b.readJSON(ctx, treePath(b.forest.root()))
				took = time.Since(begun)
				return errors.Join(err, names(answer, b.forest.names))
			})
		})
		s.add(took.Seconds(), raw.Seconds())
		return err
	})
	if err != nil {
		return err
	}
	return b.report("tree", "s", b.forest.len(), s, ratioAtMost(1))
}

// names returns an error unless all names are in a JSON text, whatever its structure.
func names(text []byte, wanted []string) error {
	var answer any
	if err := json.Unmarshal(text, &answer); err != nil {
		return err
	}
	missing := sets.New(wanted...)
	var walk func(any)
	walk = func(value any) {
		switch v := value.(type) {
		case string:
			missing.Delete(v)
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(answer)
	return mismatches("tree: missing", sets.List(missing))
}
