package view

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// cluster has one sub-namespace, acme-dev, whose labels follow its Subnamespace after some more reads.
type cluster struct {
	mu      sync.Mutex
	sub     v1beta1.Subnamespace
	version int
	labels  string
	late    int
	deleted bool
	// beforeDelete is called once before a deletion, and before before each request.
	beforeDelete func()
	before       func(*http.Request)
}

func newCluster() *cluster {
	c := &cluster{version: 1, labels: `{"lock":"free"}`}
	c.sub.Name, c.sub.Namespace, c.sub.ResourceVersion, c.sub.Generation = "acme-dev", "acme", "1", 1
	c.sub.Status.ObservedGeneration = 1
	c.sub.Spec.NamespaceLabels = []v1beta1.MetaKVP{{Key: "lock", Value: "free"}}
	return c
}

func (c *cluster) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.before != nil {
		c.before(r)
	}
	if c.late--; c.late <= 0 && c.sub.Status.ObservedGeneration != c.sub.Generation {
		values := map[string]string{}
		for _, pair := range c.sub.Spec.NamespaceLabels {
			values[pair.Key] = pair.Value
		}
		labels, err := json.Marshal(values)
		if err != nil {
			return nil, err
		}
		c.labels, c.version, c.sub.Status.ObservedGeneration, c.sub.ResourceVersion = string(labels), c.version+1, c.sub.Generation, c.sub.ResourceVersion+"s"
	}
	deletion := ""
	if c.deleted {
		deletion = `,"deletionTimestamp":"2026-01-01T00:00:00Z"`
	}
	code, body := http.StatusOK, []byte(fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"acme-dev","resourceVersion":"%d","labels":%s%s}}`, c.version, c.labels, deletion))
	if strings.Contains(r.URL.Path, "/subnamespaces/") {
		answered := c.sub
		if r.Method == http.MethodPut {
			var sent v1beta1.Subnamespace
			if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
				return nil, err
			}
			switch {
			case sent.ResourceVersion != c.sub.ResourceVersion:
				code = http.StatusConflict
			case r.URL.Query().Get("dryRun") != "":
				answered = sent
			default:
				c.sub.Spec, c.late = sent.Spec, 6
				c.sub.Generation++
				c.sub.ResourceVersion += "x"
				answered = c.sub
			}
		}
		if r.Method == http.MethodDelete {
			if c.beforeDelete != nil {
				c.beforeDelete()
				c.beforeDelete = nil
			}
			var sent metav1.DeleteOptions
			if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
				return nil, err
			}
			if p := sent.Preconditions; p.ResourceVersion != nil && *p.ResourceVersion != c.sub.ResourceVersion {
				code = http.StatusConflict
			} else {
				c.deleted = true
			}
		}
		answered.TypeMeta = metav1.TypeMeta{APIVersion: "hnc.x-k8s.io/v1beta1", Kind: "Subnamespace"}
		var err error
		if body, err = json.Marshal(answered); err != nil {
			return nil, err
		}
		if code == http.StatusConflict {
			body = []byte(`{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Conflict","code":409}`)
		}
	}
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(untilDone{r.Context(), strings.NewReader(string(body))})}, nil
}

// untilDone fails when a context is done.
type untilDone struct {
	ctx context.Context
	io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}

// send sends a change of the namespace through a view.
func (c *cluster) send(t *testing.T, method, contentType, body string) (int, string) {
	t.Helper()
	w := c.response(t, method, contentType, body)
	return w.Code, w.Body.String()
}

func (c *cluster) response(t *testing.T, method, contentType, body string, query ...string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	c.serve(t, unlimited{}, w, method, contentType, body, query...)
	return w
}

func (c *cluster) serve(t *testing.T, budget Budget, w http.ResponseWriter, method, contentType, body string, query ...string) {
	t.Helper()
	members := fixed{"acme": {Present: t.Context()}, "acme-dev": {Present: t.Context(), Parent: "acme", Subnamespace: true}}
	h := New(Config{
		Root: "acme", Server: &url.URL{Scheme: "https", Host: "cluster"}, Members: members, Kinds: &Kinds{known: someKinds, refreshed: farFuture},
		Mapper: mapping.New(mapping.NewNames(mapping.Config{Root: "acme", Relative: true, Prefix: "acme-", Member: members.Has}), nil),
		Caller: func(*http.Request) (*Connection, error) { return &Connection{Transport: c}, nil }, Budget: budget,
	})
	r := httptest.NewRequest(method, "/api/v1/namespaces/dev?"+strings.Join(query, "&"), strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	h.ServeHTTP(w, r)
}

// Of clients that update what they have all read, one succeeds.
func TestUpdatesOfANamespaceAreNotLost(t *testing.T) {
	for what, request := range map[string]func(i int) (method, contentType, body string){
		"a version": func(i int) (string, string, string) {
			return http.MethodPut, "application/json", fmt.Sprintf(`{"metadata":{"name":"dev","resourceVersion":"1","labels":{"lock":"client-%d"}}}`, i)
		},
		"a version in a merge patch": func(i int) (string, string, string) {
			return http.MethodPatch, "application/merge-patch+json", fmt.Sprintf(`{"metadata":{"resourceVersion":"1","labels":{"lock":"client-%d"}}}`, i)
		},
		"a test": func(i int) (string, string, string) {
			return http.MethodPatch, "application/json-patch+json",
				fmt.Sprintf(`[{"op":"test","path":"/metadata/labels/lock","value":"free"},{"op":"replace","path":"/metadata/labels/lock","value":"client-%d"}]`, i)
		},
	} {
		t.Run(what, func(t *testing.T) {
			c := newCluster()
			var group sync.WaitGroup
			codes, bodies := make([]int, 8), make([]string, 8)
			for i := range codes {
				group.Go(func() {
					method, contentType, body := request(i)
					codes[i], bodies[i] = c.send(t, method, contentType, body)
				})
			}
			group.Wait()
			succeeded := 0
			for i, code := range codes {
				switch {
				case code == http.StatusOK:
					succeeded++
					if want := fmt.Sprintf(`{"lock":"client-%d"}`, i); c.labels != want || !strings.Contains(bodies[i], want) {
						t.Errorf("stored %s, answered %s", c.labels, bodies[i])
					}
				case what == "a test" && code == http.StatusUnprocessableEntity, what != "a test" && code == http.StatusConflict:
				default:
					t.Errorf("got %d %s", code, bodies[i])
				}
			}
			if succeeded != 1 {
				t.Errorf("%d of them have succeeded", succeeded)
			}
		})
	}
}

// A namespace is not deleted at a version after which another client has updated it, even if that is not in effect yet.
func TestDeletionsAtAVersionLoseNoUpdate(t *testing.T) {
	const atVersion = `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"resourceVersion":"%d"}}`
	c := newCluster()
	c.sub.Spec.NamespaceLabels[0].Value, c.late = "other", 6
	c.sub.Generation++
	if code, body := c.send(t, http.MethodDelete, "application/json", fmt.Sprintf(atVersion, 1)); code != http.StatusConflict || c.deleted {
		t.Errorf("before an update is in effect: got %d %s", code, body)
	}
	// An update between the comparison and the deletion.
	c = newCluster()
	c.beforeDelete = func() {
		c.sub.Generation++
		c.sub.ResourceVersion += "x"
	}
	if code, body := c.send(t, http.MethodDelete, "application/json", fmt.Sprintf(atVersion, 1)); code != http.StatusConflict || c.deleted {
		t.Errorf("before an update that arrives meanwhile: got %d %s", code, body)
	}
	if code, body := c.send(t, http.MethodDelete, "application/json", fmt.Sprintf(atVersion, c.version)); code != http.StatusOK || !c.deleted {
		t.Errorf("at the present version: got %d %s", code, body)
	}
	c = newCluster()
	if code, body := c.send(t, http.MethodDelete, "application/json", ""); code != http.StatusOK || !c.deleted {
		t.Errorf("at any version: got %d %s", code, body)
	}
}

// A value that is removed is gone when the request returns, and changes without a version all take effect.
func TestChangesOfANamespaceAreInEffectWhenTheyReturn(t *testing.T) {
	c := newCluster()
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			if code, body := c.send(t, http.MethodPatch, "application/merge-patch+json", fmt.Sprintf(`{"metadata":{"labels":{"k%d":"v"}}}`, i)); code != http.StatusOK {
				t.Errorf("got %d %s", code, body)
			}
		})
	}
	group.Wait()
	code, body := c.send(t, http.MethodPatch, "application/merge-patch+json", `{"metadata":{"labels":{"lock":null}}}`)
	if code != http.StatusOK || strings.Contains(body, "lock") || !strings.Contains(body, `"labels":{"k0":"v","k1":"v","k2":"v","k3":"v"}`) {
		t.Errorf("got %d %s", code, body)
	}
}

func TestWhatAViewCannotChangeIsSaid(t *testing.T) {
	c := newCluster()
	c.labels = `{"foreign":"1","lock":"free"}`
	w := c.response(t, http.MethodPatch, "application/merge-patch+json", `{"metadata":{"labels":{"foreign":null,"lock":null},"finalizers":["example.com/x"]}}`)
	got := strings.Join(w.Header()["Warning"], "\n")
	if w.Code != http.StatusOK || len(w.Header()["Warning"]) != 2 || !strings.Contains(got, "metadata.labels foreign: not removed") || !strings.Contains(got, "only labels and annotations") {
		t.Errorf("got %d %s", w.Code, got)
	}
}

func TestADryRunOfAnUpdateAnswersWithWhatItWouldMake(t *testing.T) {
	c := newCluster()
	c.labels = `{"kept":"1","lock":"free"}`
	w := c.response(t, http.MethodPatch, "application/merge-patch+json", `{"metadata":{"labels":{"lock":null,"new":"2"},"annotations":{"a":"3"}}}`, "dryRun=All")
	if got := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(got, `"labels":{"kept":"1","new":"2"},"annotations":{"a":"3"}`) || len(c.sub.Spec.NamespaceLabels) != 1 {
		t.Errorf("got %d %s", w.Code, got)
	}
}
