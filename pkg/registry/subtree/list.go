package subtree

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/warning"
)

// reader reads one kind for one request.
type reader struct {
	upstream
	kind kind
	form form
	// query holds the selectors, and what else does not depend on where is read.
	query url.Values
}

// with returns the query with more parameters.
func (r reader) with(more map[string]string) url.Values {
	query := url.Values{}
	for key, values := range r.query {
		query[key] = values
	}
	for key, value := range more {
		query.Set(key, value)
	}
	return query
}

// revision learns from the cluster at which revision to read, and what an empty answer looks like. It is given what a caller may
// say about revisions. Of the one object that comes with it nothing is kept, for nobody has asked whose it is.
func (r reader) revision(ctx context.Context, resourceVersion string, match metav1.ResourceVersionMatch) (*page, error) {
	query := url.Values{"limit": {"1"}}
	if resourceVersion != "" {
		query.Set("resourceVersion", resourceVersion)
	}
	if match != "" {
		query.Set("resourceVersionMatch", string(match))
	}
	p, err := r.list(ctx, r.kind, "", query, r.form.accept)
	if err != nil {
		return nil, err
	}
	p.empty()
	return p, nil
}

// empty takes all objects out of a page.
func (p *page) empty() {
	p.Metadata = metav1.ListMeta{ResourceVersion: p.Metadata.ResourceVersion}
	if p.ColumnDefinitions != nil || p.Rows != nil {
		p.Rows = []json.RawMessage{}
		return
	}
	p.Items = []json.RawMessage{}
}

// at reads a namespace at exactly a revision, limit objects at most if it is not 0, on from a token if there is one. What has no
// revisions is read as it is.
func (r reader) at(ctx context.Context, namespace, resourceVersion string, limit int64, token string) (*page, error) {
	var query url.Values
	switch {
	case token != "":
		query = r.with(map[string]string{"continue": token})
	case resourceVersion != "":
		query = r.with(map[string]string{"resourceVersion": resourceVersion, "resourceVersionMatch": string(metav1.ResourceVersionMatchExact)})
	default:
		query = r.with(nil)
	}
	if limit > 0 {
		query.Set("limit", strconv.FormatInt(limit, 10))
	}
	return r.list(ctx, r.kind, namespace, query, r.form.accept)
}

// several reads namespaces at once, and returns a page for each.
func (r reader) several(ctx context.Context, namespaces []string, read func(ctx context.Context, i int) (*page, error)) ([]*page, error) {
	pages := make([]*page, len(namespaces))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range namespaces {
		group.Go(func() (err error) {
			pages[i], err = read(ctx, i)
			return err
		})
	}
	return pages, group.Wait()
}

// list answers a request for a list over the subtree of root.
func (h *Handler) list(ctx context.Context, w http.ResponseWriter, q *request) error {
	namespaces, err := h.members.subtree(ctx, q.root)
	if err != nil {
		return err
	}
	from := token{}
	var answer *page
	if q.options.Continue != "" {
		if from, err = parse(q.options.Continue); err != nil {
			return err
		}
		answer, err = q.reader.revision(ctx, from.ResourceVersion, metav1.ResourceVersionMatchExact)
	} else {
		if namespaces, err = q.permitted(ctx, namespaces); err != nil {
			return err
		}
		answer, err = q.reader.revision(ctx, q.options.ResourceVersion, q.match())
	}
	if err != nil {
		return err
	}
	from.ResourceVersion = answer.Metadata.ResourceVersion
	if err := q.collect(ctx, answer, namespaces, from); err != nil {
		return err
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw) // who has gone needs no answer
	return nil
}

// permitted returns those of the subtree's namespaces where the caller has the right, and warns of the others. It fails with
// Forbidden if there are only others.
func (q *request) permitted(ctx context.Context, namespaces []string) ([]string, error) {
	allowed, denied, err := q.rights.among(ctx, namespaces)
	if err != nil {
		return nil, err
	}
	if len(denied) > 0 {
		if len(allowed) == 0 {
			return nil, q.rights.refused(q.root)
		}
		warning.AddWarning(ctx, "", q.rights.leftOut(denied, len(namespaces)))
	}
	return allowed, nil
}

// match says how the parameter resourceVersion is meant. Without a limit it is a minimum, with one it is exact.
func (q *request) match() metav1.ResourceVersionMatch {
	if q.options.ResourceVersion != "" && q.options.ResourceVersionMatch == "" && q.options.Limit == 0 {
		return metav1.ResourceVersionMatchNotOlderThan
	}
	return q.options.ResourceVersionMatch
}

// collect adds to answer what is in the namespaces, which are sorted, from a token on, and the token of what remains. Pages after
// the first ask for rights again, but only as far as they get.
func (q *request) collect(ctx context.Context, answer *page, namespaces []string, from token) error {
	limit, later := q.options.Limit, q.options.Continue != ""
	for len(namespaces) > 0 && (namespaces[0] < from.After || namespaces[0] == from.After && from.Continue == "") {
		namespaces = namespaces[1:]
	}
	for len(namespaces) > 0 {
		size, left := len(namespaces), int64(0)
		if limit > 0 {
			size, left = min(size, parallel), limit-int64(answer.len())
		}
		batch := namespaces[:size]
		namespaces = namespaces[size:]
		if later {
			var err error
			if batch, _, err = q.rights.among(ctx, batch); err != nil {
				return err
			}
		}
		pages, err := q.reader.several(ctx, batch, func(ctx context.Context, i int) (*page, error) {
			begun := ""
			if batch[i] == from.After {
				begun = from.Continue
			}
			return q.reader.at(ctx, batch[i], from.ResourceVersion, left, begun)
		})
		if err != nil {
			return err
		}
		for i, p := range pages {
			if limit > 0 && answer.len() > 0 && int64(answer.len()+p.len()) > limit {
				answer.Metadata.Continue = from.String()
				return nil
			}
			answer.Rows, answer.Items = append(answer.Rows, p.Rows...), append(answer.Items, p.Items...)
			from.After, from.Continue = batch[i], p.Metadata.Continue
			more := from.Continue != "" || i+1 < len(batch) || len(namespaces) > 0
			if limit > 0 && more && (from.Continue != "" || int64(answer.len()) >= limit) {
				answer.Metadata.Continue = from.String()
				return nil
			}
		}
	}
	return nil
}
