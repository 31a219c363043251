package subtree

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/warning"
)

// reader reads one kind for one request.
type reader struct {
	upstream
	kind   kind
	output outputType
	// query holds the parameters that are the same for every upstream request, such as selectors.
	query url.Values
	// memory is that of the request.
	memory *share
	// slots limit what is read at a time; nil for requests that count as lists.
	slots *slots
}

// user is the name of the user who makes the request.
func (r reader) user() string { return r.memory.user }

// with returns the query with additional parameters.
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

// currentRevision returns an empty list at the revision that the given parameters select. The namespace does not
// matter for that; kube-apiserver would copy references to all objects of the cluster, even if limited to one. It drops
// the one object that the upstream request returns, because nobody has authorized it. It fails if the parameters select
// a future revision.
func (r reader) currentRevision(ctx context.Context, resourceVersion string, match metav1.ResourceVersionMatch) (*page, error) {
	if err := r.rejectFuture(ctx, resourceVersion); err != nil {
		return nil, err
	}
	query := url.Values{"limit": {"1"}}
	if resourceVersion != "" {
		query.Set("resourceVersion", resourceVersion)
	}
	if match != "" {
		query.Set("resourceVersionMatch", string(match))
	}
	defer r.memory.giveBack(r.memory.bytes())
	p, err := r.list(ctx, r.kind, metav1.NamespacePublic, query, r.output.listAccept(), r.memory)
	if err != nil {
		return nil, err
	}
	p.removeItems()
	return p, nil
}

// rejectFuture returns an error if a revision, which a client has chosen, is in the future. kube-apiserver would wait
// for it; until then, the request would be in flight, and nobody else could share a watch that it has opened.
func (r reader) rejectFuture(ctx context.Context, revision string) error {
	if revision == "" || revision == "0" {
		return nil
	}
	head, err := r.currentRevision(ctx, "", "")
	if err != nil {
		return err
	}
	now := head.Metadata.ResourceVersion
	if order, err := resourceversion.CompareResourceVersion(revision, now); err == nil && order > 0 {
		requested, _ := strconv.ParseUint(revision, 10, 64)
		current, _ := strconv.ParseUint(now, 10, 64)
		return storage.NewTooLargeResourceVersionError(requested, current, retryAfter)
	}
	return nil
}

// listAt lists a namespace at exactly a revision. limit 0 means no limit; token continues an earlier page. An empty
// revision, for storage without revisions, lists the latest state.
func (r reader) listAt(ctx context.Context, namespace, resourceVersion string, limit int64, token string) (*page, error) {
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
	return r.list(ctx, r.kind, namespace, query, r.output.listAccept(), r.memory)
}

// listParallel calls read for each namespace, several at a time, and returns their pages. It holds a slot meanwhile, but
// not while the caller is sent what has been read.
func (r reader) listParallel(ctx context.Context, namespaces []string, read func(ctx context.Context, i int) (*page, error)) ([]*page, error) {
	if r.slots != nil {
		release, err := r.slots.acquire(ctx, r.memory)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	pages := make([]*page, len(namespaces))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxParallel)
	for i := range namespaces {
		group.Go(func() (err error) {
			pages[i], err = read(ctx, i)
			return err
		})
	}
	return pages, group.Wait()
}

// list serves a list across the subtree of root.
func (h *handler) list(ctx context.Context, w http.ResponseWriter, q *request) error {
	namespaces, err := h.members.subtree(ctx, q.root)
	if err != nil {
		return err
	}
	from := continueToken{}
	var answer *page
	if q.options.Continue != "" {
		if from, err = parseContinueToken(q.options.Continue); err != nil {
			return err
		}
		answer, err = q.reader.currentRevision(ctx, from.ResourceVersion, metav1.ResourceVersionMatchExact)
	} else {
		if namespaces, err = q.allowedNamespaces(ctx, namespaces); err != nil {
			return err
		}
		answer, err = q.reader.currentRevision(ctx, q.options.ResourceVersion, q.resourceVersionMatch())
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
	_, _ = w.Write(raw) // a write error means that the caller has disconnected
	return nil
}

// allowedNamespaces returns the namespaces of the subtree in which the caller is allowed, and adds a warning about
// the others, unless these are what is listed: their names would be in it. It fails with Forbidden if no namespace is
// left.
func (q *request) allowedNamespaces(ctx context.Context, namespaces []string) ([]string, error) {
	allowed, denied, err := q.permissions.partition(ctx, namespaces)
	if err != nil {
		return nil, err
	}
	if len(denied) > 0 {
		if len(allowed) == 0 {
			return nil, q.permissions.forbidden(q.root)
		}
		if !q.permissions.ofNamespaces {
			warning.AddWarning(ctx, "", q.permissions.omittedWarning(denied, len(namespaces)))
		}
	}
	return allowed, nil
}

// resourceVersionMatch resolves the default: a minimum without a limit, exact with one.
func (q *request) resourceVersionMatch() metav1.ResourceVersionMatch {
	if q.options.ResourceVersion != "" && q.options.ResourceVersionMatch == "" && q.options.Limit == 0 {
		return metav1.ResourceVersionMatchNotOlderThan
	}
	return q.options.ResourceVersionMatch
}

// collect adds to answer the objects in the sorted namespaces from a token on, and sets the token of the next
// page. Pages after the first check permissions again, only for the namespaces that they reach. Several namespaces are
// read at a time, with up to limit objects each; if these exceed the memory, one is, then fewer objects.
func (q *request) collect(ctx context.Context, answer *page, namespaces []string, from continueToken) error {
	limit, later := min(q.options.Limit, math.MaxInt32), q.options.Continue != ""
	most := limit * maxParallel
	from.Size = min(max(cmp.Or(from.Size, most), 1), most)
	endPage := func() {
		if from.Size == most {
			from.Size = 0 // the limit of the next page may be another one
		}
		answer.Metadata.Continue = from.String()
	}
	for len(namespaces) > 0 && (namespaces[0] < from.After || namespaces[0] == from.After && from.Continue == "") {
		namespaces = namespaces[1:]
	}
	for len(namespaces) > 0 {
		size, left := len(namespaces), int64(0)
		if limit > 0 {
			size, left = min(size, max(int(from.Size/limit), 1)), min(from.Size, limit-int64(answer.len()))
		}
		batch, rest := namespaces[:size], namespaces[size:]
		if later {
			var err error
			if batch, _, err = q.permissions.partition(ctx, batch); err != nil {
				return err
			}
		}
		before := q.reader.memory.bytes()
		pages, err := q.reader.listParallel(ctx, batch, func(ctx context.Context, i int) (*page, error) {
			return q.reader.listAt(ctx, batch[i], from.ResourceVersion, left, from.in(batch[i]))
		})
		if errors.Is(err, errTooLarge) && limit > 0 {
			q.reader.memory.giveBack(before)
			if answer.len() == 0 && from.Size == 1 {
				return q.reader.tooLarge(ctx, batch[0], from)
			}
			if from.Size > limit {
				from.Size = limit
			} else {
				from.Size = fewer(from.Size)
			}
			if answer.len() > 0 {
				endPage()
				return nil
			}
			continue
		}
		if err != nil {
			return err
		}
		bytes := q.reader.memory.bytes() - before
		namespaces, from.Size = rest, q.reader.memory.more(from.Size, most, bytes)
		full := before+2*bytes > q.reader.memory.each // objects like these have no room in this page
		for i, p := range pages {
			if limit > 0 && answer.len() > 0 && int64(answer.len()+p.len()) > limit {
				endPage()
				return nil
			}
			answer.Rows, answer.Items = append(answer.Rows, p.Rows...), append(answer.Items, p.Items...)
			from.After, from.Continue = batch[i], p.Metadata.Continue
			last := i+1 == len(batch)
			more := from.Continue != "" || !last || len(namespaces) > 0
			if limit > 0 && more && (from.Continue != "" || int64(answer.len()) >= limit || last && full) {
				endPage()
				return nil
			}
		}
	}
	return nil
}
