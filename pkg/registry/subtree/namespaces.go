package subtree

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// namespaceBatch bounds the namespaces whose objects are in memory at a time.
const namespaceBatch = 4 * maxParallel

// addNamespaces makes namespaces visible: it sends their objects at the position as added.
func (w *watcher) addNamespaces(ctx context.Context, names []string) error {
	for len(names) > 0 {
		some := names[:min(len(names), namespaceBatch)]
		pages, err := w.reader.listParallel(ctx, some, func(ctx context.Context, i int) (*page, error) {
			return w.reader.listAt(ctx, some[i], w.position, 0, "")
		})
		if err != nil {
			return err
		}
		for i, p := range pages {
			objects, err := p.objects()
			if err != nil {
				return err
			}
			for _, object := range objects {
				w.out.writeObject(string(watch.Added), object)
			}
			w.visible.Insert(some[i])
		}
		if names = names[len(some):]; len(names) == 0 && w.started && w.options.AllowWatchBookmarks {
			// The caller resumes from the position, which is newer than the revisions of the objects.
			w.out.writeBookmark(w.position, nil)
		}
	}
	return nil
}

// removeNamespaces hides namespaces: it sends their objects at the position as deleted, with identifying metadata
// only.
func (w *watcher) removeNamespaces(ctx context.Context, names []string) error {
	for len(names) > 0 {
		some := names[:min(len(names), namespaceBatch)]
		r := w.reader
		if r.output.table != "" {
			r.query = r.with(map[string]string{"includeObject": string(metav1.IncludeMetadata)})
		} else {
			r.output.accept = metadataList
		}
		pages, err := r.listParallel(ctx, some, func(ctx context.Context, i int) (*page, error) {
			return r.listAt(ctx, some[i], w.position, 0, "")
		})
		if err != nil {
			return err
		}
		for i, p := range pages {
			objects, err := w.tombstones(p)
			if err != nil {
				return err
			}
			for _, object := range objects {
				w.out.writeObject(string(watch.Deleted), object)
			}
			w.visible.Delete(some[i])
		}
		names = names[len(some):]
	}
	return nil
}

// tombstones returns the objects of a page with identifying metadata only, at the position.
func (w *watcher) tombstones(p *page) ([]json.RawMessage, error) {
	var objects []json.RawMessage
	strip := func(raw json.RawMessage) (identity, error) {
		var full identity
		if err := json.Unmarshal(raw, &full); err != nil {
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
