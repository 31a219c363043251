package subtree

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// atOnce is how many namespaces' objects are held at a time.
const atOnce = 4 * parallel

// join shows namespaces: what is in them at the position is told as added.
func (s *session) join(ctx context.Context, names []string) error {
	for len(names) > 0 {
		some := names[:min(len(names), atOnce)]
		pages, err := s.reader.several(ctx, some, func(ctx context.Context, i int) (*page, error) {
			return s.reader.at(ctx, some[i], s.position, 0, "")
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
				s.out.object(string(watch.Added), object)
			}
			s.shown.Insert(some[i])
		}
		if names = names[len(some):]; len(names) == 0 && s.live && s.options.AllowWatchBookmarks {
			// The objects' own revisions are older than the position, from where the caller goes on.
			s.out.bookmark(s.position, nil)
		}
	}
	return nil
}

// part hides namespaces: what is in them at the position is told as deleted, with no more than what names an object.
func (s *session) part(ctx context.Context, names []string) error {
	for len(names) > 0 {
		some := names[:min(len(names), atOnce)]
		r := s.reader
		if r.form.table != "" {
			r.query = r.with(map[string]string{"includeObject": string(metav1.IncludeMetadata)})
		} else {
			r.form.accept = runtime.ContentTypeJSON + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
		}
		pages, err := r.several(ctx, some, func(ctx context.Context, i int) (*page, error) {
			return r.at(ctx, some[i], s.position, 0, "")
		})
		if err != nil {
			return err
		}
		for i, p := range pages {
			objects, err := s.stripped(p)
			if err != nil {
				return err
			}
			for _, object := range objects {
				s.out.object(string(watch.Deleted), object)
			}
			s.shown.Delete(some[i])
		}
		names = names[len(some):]
	}
	return nil
}

// stripped returns the objects of a page by their names only, as of the position.
func (s *session) stripped(p *page) ([]json.RawMessage, error) {
	var objects []json.RawMessage
	strip := func(raw json.RawMessage) (identity, error) {
		var full identity
		if err := json.Unmarshal(raw, &full); err != nil {
			return full, err
		}
		id := s.out.blank()
		id.Metadata.Name, id.Metadata.Namespace, id.Metadata.UID = full.Metadata.Name, full.Metadata.Namespace, full.Metadata.UID
		id.Metadata.ResourceVersion = s.position
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
		object, err := json.Marshal(p.tableOf(s.out.row(id, p.ColumnDefinitions)))
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}
