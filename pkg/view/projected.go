package view

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rules"
)

// projected are the cluster-scoped kinds that a view shows besides those of all views.
type projected struct {
	kinds sets.Set[schema.GroupResource]
	// edition is appended to the entity tags and hashes of kube-apiserver's documents, by which clients cache them: the
	// view shows other documents when it projects other kinds. It is empty if the view projects none.
	edition string
}

func newProjected(resources []schema.GroupResource) projected {
	p := projected{kinds: sets.New[schema.GroupResource]()}
	var names []string
	for _, resource := range resources {
		if rules.NotProjected(resource) == "" && !p.kinds.Has(resource) {
			p.kinds.Insert(resource)
			names = append(names, resource.String())
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		sum := sha256.Sum256([]byte(strings.Join(names, ",")))
		p.edition = fmt.Sprintf("-%x", sum[:8])
	}
	return p
}

// tag adds the edition to the entity tag of a response.
func (p projected) tag(header http.Header) {
	if tag := header.Get("Etag"); tag != "" {
		header.Set("Etag", strings.TrimSuffix(tag, `"`)+p.edition+`"`)
	}
}

// untag rewrites the conditional headers of a request for kube-apiserver. It removes conditions on other editions, and
// on times, which are those of all editions.
func (p projected) untag(header http.Header) {
	var tags []string
	for tag := range strings.SplitSeq(header.Get("If-None-Match"), ",") {
		if tag, ok := strings.CutSuffix(strings.TrimSpace(tag), p.edition+`"`); ok {
			tags = append(tags, tag+`"`)
		}
	}
	header.Del("If-Modified-Since")
	header.Del("If-None-Match")
	if len(tags) > 0 {
		header.Set("If-None-Match", strings.Join(tags, ", "))
	}
}

// query returns the query for a document of OpenAPI v3, with the hash of kube-apiserver, or without the hash of another
// edition.
func (p projected) query(query url.Values) string {
	if hash, ok := strings.CutSuffix(query.Get("hash"), p.edition); ok && hash != "" {
		query.Set("hash", hash)
	} else {
		query.Del("hash")
	}
	return query.Encode()
}
