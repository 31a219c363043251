package subtree

import (
	"context"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	kjson "sigs.k8s.io/json"
)

// namespaceBatch bounds the namespaces whose objects are in memory at a time.
const namespaceBatch = 4 * maxParallel

// addNamespaces makes namespaces visible: it sends their objects at the position as added.
func (w *watcher) addNamespaces(ctx context.Context, names []string) error {
	err := w.reader.eachNamespace(ctx, names, w.position, func(name string, p *page) error {
		objects, err := p.objects()
		if err != nil {
			return err
		}
		for _, object := range objects {
			w.out.writeObject(string(watch.Added), object)
		}
		w.visible.Insert(name)
		return w.out.err
	})
	if err == nil && len(names) > 0 && w.started && w.options.AllowWatchBookmarks {
		// The caller resumes from the position, which is newer than the revisions of the objects.
		w.out.writeBookmark(w.position, nil)
	}
	return err
}

// removeNamespaces hides namespaces: it sends their objects at the position as deleted, with identifying metadata
// only.
func (w *watcher) removeNamespaces(ctx context.Context, names []string) error {
	r := w.reader
	if r.output.table != "" {
		r.query = r.with(map[string]string{"includeObject": string(metav1.IncludeMetadata)})
	} else {
		r.output.accept = metadataList
	}
	return r.eachNamespace(ctx, names, w.position, func(name string, p *page) error {
		objects, err := w.tombstones(p)
		if err != nil {
			return err
		}
		for _, object := range objects {
			w.out.writeObject(string(watch.Deleted), object)
		}
		w.visible.Delete(name)
		return nil
	})
}

// eachNamespace calls use with the objects of each namespace at a revision: with several pages for a namespace whose
// objects exceed the memory, otherwise with one.
func (r reader) eachNamespace(ctx context.Context, names []string, resourceVersion string, use func(name string, p *page) error) error {
	defer r.memory.giveBack(0)
	// size is the number of namespaces that are read at a time; 0 is a part of one.
	for size := namespaceBatch; len(names) > 0; r.memory.giveBack(0) {
		if size == 0 {
			if err := r.eachPage(ctx, names[0], resourceVersion, smallPage, func(p *page) error { return use(names[0], p) }); err != nil {
				return err
			}
			names, size = names[1:], 1
			continue
		}
		some := names[:min(len(names), size)]
		pages, err := r.listParallel(ctx, some, func(ctx context.Context, i int) (*page, error) {
			return r.listAt(ctx, some[i], resourceVersion, 0, "")
		})
		if errors.Is(err, errTooLarge) {
			size /= maxParallel
			continue
		}
		if err != nil {
			return err
		}
		for i, p := range pages {
			if err := use(some[i], p); err != nil {
				return err
			}
		}
		names, size = names[len(some):], int(r.memory.more(int64(size), namespaceBatch, r.memory.bytes()))
	}
	return nil
}

// tombstones returns the objects of a page with identifying metadata only, at the position.
func (w *watcher) tombstones(p *page) ([]json.RawMessage, error) {
	var objects []json.RawMessage
	strip := func(raw json.RawMessage) (identity, error) {
		var full identity
		if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &full); err != nil {
			return full, err
		}
		id := w.out.emptyObject()
		id.Metadata.Name, id.Metadata.Namespace, id.Metadata.UID = full.Metadata.Name, full.Metadata.Namespace, full.Metadata.UID
		id.Metadata.ResourceVersion = w.position
		return id, nil
	}
	for _, item := range p.Items {
		id, err := strip(item)
		if err != nil {
			return nil, err
		}
		object, err := json.Marshal(id)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	for _, raw := range p.Rows {
		var r row
		if err := json.Unmarshal(raw, &r); err != nil {
			return nil, err
		}
		id, err := strip(r.Object)
		if err != nil {
			return nil, err
		}
		object, err := json.Marshal(p.tableOf(w.out.nameRow(id, p.ColumnDefinitions)))
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}
