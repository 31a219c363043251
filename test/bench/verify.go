package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
)

// propagation writes sources, and waits for their copies and checks them.
type propagation struct{ *bench }

// verifyCopies returns an error unless the copies from a source namespace are exactly the wanted ones: one of each
// source in each namespace, with the source's content.
func (b propagation) verifyCopies(ctx context.Context, source string, namespaces []string) error {
	for _, k := range b.kinds() {
		if err := b.verifyKind(ctx, k, source, namespaces); err != nil {
			return err
		}
	}
	return nil
}

func (b propagation) verifyKind(ctx context.Context, k kind, source string, namespaces []string) error {
	client := b.dynamic.Resource(k.GroupVersionResource)
	sources, err := client.Namespace(source).List(ctx, metav1.ListOptions{LabelSelector: generation + ",!" + inheritedFrom})
	if err != nil {
		return err
	}
	byName := map[string]unstructured.Unstructured{}
	missing := sets.New[string]()
	for _, s := range sources.Items {
		byName[s.GetName()] = s
		for _, namespace := range namespaces {
			missing.Insert(namespace + "/" + s.GetName())
		}
	}
	var mismatched []string
	options := metav1.ListOptions{LabelSelector: inheritedFrom + "=" + source, Limit: 5000}
	for {
		list, err := client.List(ctx, options)
		if err != nil {
			return err
		}
		for _, c := range list.Items {
			key := c.GetNamespace() + "/" + c.GetName()
			switch {
			case !missing.Has(key):
				mismatched = append(mismatched, key+" should not be there")
			case !sameContent(byName[c.GetName()], c):
				mismatched = append(mismatched, key+" is not as its source")
			}
			missing.Delete(key)
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			break
		}
	}
	for key := range missing {
		mismatched = append(mismatched, key+" is missing")
	}
	return mismatches(fmt.Sprintf("copies of %s from %s", k.Resource, source), mismatched)
}

// sameContent compares all but what differs between a source and a copy by design.
func sameContent(source, c unstructured.Unstructured) bool {
	if c.GetLabels()[generation] != source.GetLabels()[generation] {
		return false
	}
	payload := func(u unstructured.Unstructured) map[string]any {
		rest := map[string]any{}
		for field, value := range u.Object {
			if field != "metadata" {
				rest[field] = value
			}
		}
		return rest
	}
	return equality.Semantic.DeepEqual(payload(source), payload(c))
}

// sourceNames names the sources of a kind.
func (b propagation) sourceNames(prefix string) []string {
	names := make([]string, b.Objects)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", prefix, i)
	}
	return names
}

// writeSources writes all sources in a namespace.
func (b propagation) writeSources(ctx context.Context, namespace, prefix, value string) error {
	for _, k := range b.kinds() {
		for _, name := range b.sourceNames(prefix) {
			if err := k.create(ctx, b.kube, k.named(namespace, name, value)); err != nil {
				return err
			}
		}
	}
	return nil
}

// copied writes all sources in a namespace, and returns how long it took until each of its descendants had a copy of
// each.
func (b propagation) copied(ctx context.Context, namespace, prefix, value string, descendants []string) (time.Duration, error) {
	var observations []*observation
	for _, k := range b.kinds() {
		o, err := b.observeCopies(ctx, k, namespace, value, b.Objects*len(descendants))
		if err != nil {
			return 0, err
		}
		observations = append(observations, o)
	}
	begun := time.Now()
	if err := b.writeSources(ctx, namespace, prefix, value); err != nil {
		return 0, err
	}
	return b.waitAll(ctx, begun, observations)
}

// removeSources deletes all sources in a namespace, and returns when their n copies each have gone.
func (b propagation) removeSources(ctx context.Context, namespace, prefix string, n int) error {
	var observations []*observation
	for _, k := range b.kinds() {
		o, err := b.observeRemoval(ctx, k, namespace, b.Objects*n)
		if err != nil {
			return err
		}
		observations = append(observations, o)
		for _, name := range b.sourceNames(prefix) {
			if err := k.delete(ctx, b.kube, namespace, name); err != nil {
				return err
			}
		}
	}
	if _, err := b.waitAll(ctx, time.Now(), observations); err != nil {
		return err
	}
	return b.verifyCopies(ctx, namespace, nil)
}
