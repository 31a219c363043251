package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/ui"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/faults"
)

// served runs the page for a test, with the administrator's kubeconfig and another address of the cluster, unless that
// is empty.
func served(t *testing.T, cluster string, flags ...string) func() *Page {
	t.Helper()
	if chromium == nil {
		t.Skip(Missing)
	}
	file := cp.Kubeconfig()
	if cluster != "" {
		config, err := clientcmd.LoadFromFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range config.Clusters {
			c.Server = cluster
			if strings.HasPrefix(cluster, "http:") {
				c.CertificateAuthority, c.CertificateAuthorityData = "", nil
			}
		}
		file = filepath.Join(t.TempDir(), "kubeconfig")
		if err := clientcmd.WriteToFile(*config, file); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Serve(binDir, file, flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop() })
	return func() *Page { return p }
}

// olderCluster serves hierarchies of v1alpha2 only.
func olderCluster(w http.ResponseWriter, r *http.Request) {
	group := metav1.GroupVersionForDiscovery{GroupVersion: "hnc.x-k8s.io/v1alpha2", Version: "v1alpha2"}
	var answer any
	switch r.URL.Path {
	case "/api":
		answer = metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	case "/apis":
		answer = metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{
			{Name: "hnc.x-k8s.io", Versions: []metav1.GroupVersionForDiscovery{group}, PreferredVersion: group}}}
	case "/api/v1", "/apis/hnc.x-k8s.io/v1alpha2":
		answer = metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/apis/"), "/api/"),
			APIResources: []metav1.APIResource{{Name: "hierarchyconfigurations", Namespaced: true, Kind: "HierarchyConfiguration", Verbs: metav1.Verbs{"get", "list"}}}}
	case "/api/v1/namespaces":
		answer = metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}, ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		answer = metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: http.StatusNotFound,
			Reason: metav1.StatusReasonNotFound, Message: "the server could not find the requested resource", Details: &metav1.StatusDetails{}}
		_ = json.NewEncoder(w).Encode(answer)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// What is the matter, and what to do about it, is on the page.
func TestStates(t *testing.T) {
	old := httptest.NewServer(http.HandlerFunc(olderCluster))
	defer old.Close()
	for _, state := range []struct {
		name, cluster, path string
		flags, texts        []string
	}{
		{"no cluster", "https://127.0.0.1:1", "/", nil, []string{"The cluster cannot be reached", "kubectl cluster-info"}},
		{"no permission", "", "/", []string{"--as=nobody"}, []string{"Missing permission", "list"}},
		{"no permission for a namespace", "", "/ns/acme", []string{"--as=nobody"}, []string{"You may not see this", "get namespaces in namespace acme"}},
		{"no permission for quotas", "", "/quotas", []string{"--as=nobody"}, []string{"issing permission"}},
		{"an old server", old.URL, "/", nil, []string{"older than this plugin"}},
		{"no such namespace", "", "/ns/nowhere", nil, []string{"It does not exist", `"nowhere" not found`}},
		{"no such object", "", "/ns/acme/roles.rbac.authorization.k8s.io/none", nil, []string{"It is not in acme"}},
		{"no such kind", "", "/ns/acme/nothings/none", nil, []string{"nothings"}},
	} {
		t.Run(state.name, func(t *testing.T) {
			b := open(t, served(t, state.cluster, state.flags...), state.path)
			for _, text := range state.texts {
				b.shows("main", text)
			}
			b.until("what is not known is not fine", "!document.querySelector('main .summary .good')")
		})
	}
}

func TestALostConnectionIsShownAndComesBack(t *testing.T) {
	t.Parallel()
	if chromium == nil {
		t.Skip(Missing)
	}
	cluster, err := url.Parse(cp.RESTConfig().Host)
	if err != nil {
		t.Fatal(err)
	}
	link, err := faults.NewLink(t.Context(), cluster.Host)
	if err != nil {
		t.Fatal(err)
	}
	p := served(t, "https://"+link.Address())
	b := open(t, p, "/")
	b.shows("#row-acme", "acme")
	b.shows("header .state", "Live")
	link.Set(faults.Cut)
	b.shows("header .state", "Not connected")
	b.shows(".stale", "The cluster cannot be reached. This is the state of ")
	b.shows("#row-acme", "acme")
	link.Set(faults.Open)
	b.shows("header .state", "Live")
	b.until("the page is no longer stale", "!document.querySelector('.stale')")
	if err := p().Stop(); err != nil {
		t.Fatal(err)
	}
	b.shows("main", "The command has ended")
	b.shows("main", "Run it again")
}

// deepReader has a forest of 60 levels, of names of the maximum length, with a problem of markup.
type deepReader struct{ ui.Reader }

const levels = 60

func deepName(level int) string { return fmt.Sprintf("%s-%02d", strings.Repeat("m", 60), level) }

func (deepReader) Session() ui.Session {
	return ui.Session{Context: strings.Repeat("context-", 30), User: "<i>" + strings.Repeat("user", 60)}
}
func (deepReader) Quotas(context.Context) (*ui.Quotas, error) {
	return &ui.Quotas{Quotas: []ui.Quota{}}, nil
}
func (deepReader) Watch(ctx context.Context, changed func()) error {
	changed()
	<-ctx.Done()
	return nil
}
func (deepReader) Forest(context.Context) (*ui.Forest, error) {
	f := &ui.Forest{}
	for i := range levels {
		m := ui.Member{Name: deepName(i), Kind: ui.Full}
		if i > 0 {
			m.Parent = deepName(i - 1)
		}
		f.Namespaces = append(f.Namespaces, m)
	}
	f.Namespaces[levels-1].Problems = []metav1.Condition{{Type: "<script>alert(1)</script>", Status: "True", Reason: "<img src=x>", Message: "<img src=x onerror=alert(2)>\u202e" + strings.Repeat("long ", 400)}}
	return f, nil
}
func (deepReader) Namespace(_ context.Context, name string) (*ui.Namespace, error) {
	f, _ := deepReader{}.Forest(context.Background())
	n := &ui.Namespace{Member: f.Namespaces[levels-1], Children: make([]ui.Child, 450), LabelsFrom: []ui.Label{{Key: "a", Value: "<b>"}}}
	for i := range n.Children {
		n.Children[i].Name = fmt.Sprintf("child-%d", i)
	}
	for i := range 60 {
		n.Resources = append(n.Resources, fmt.Sprintf("kinds-%02d", i))
	}
	for _, m := range f.Namespaces {
		n.Path = append(n.Path, m.Name)
	}
	return n, nil
}
func (deepReader) Objects(context.Context, string, string) (*ui.Objects, error) {
	return nil, errors.New("no kind has this name")
}
func (deepReader) Problem(err error) ui.Problem { return ui.Problem{Title: err.Error()} }
func (deepReader) Events(context.Context, string) (*ui.Events, error) {
	return &ui.Events{Items: []ui.Event{{Reason: "<u>", Message: "<img src=x onerror=alert(3)>", Kind: "<u>", Name: strings.Repeat("e", 253)}}}, nil
}

// servedBy serves what a reader returns, for a test.
func servedBy(t *testing.T, reader ui.Reader) func() *Page {
	t.Helper()
	if chromium == nil {
		t.Skip(Missing)
	}
	server, err := ui.Listen(reader, 0)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(t.Context()) }()
	p := &Page{}
	p.Address, p.Token, _ = strings.Cut(server.URL(), "/#token=")
	return func() *Page { return p }
}

// failingReader has a forest, and can read nothing else. Its watches fail, or report changes all the time.
type failingReader struct {
	deepReader
	watching       atomic.Bool
	watches, reads atomic.Int32
}

var errFailing = errors.New("the quotas are out")

func (r *failingReader) Watch(ctx context.Context, changed func()) error {
	r.watches.Add(1)
	if !r.watching.Load() {
		return errFailing
	}
	for ctx.Err() == nil {
		changed()
		time.Sleep(100 * time.Millisecond)
	}
	return nil
}

func (r *failingReader) Quotas(context.Context) (*ui.Quotas, error) {
	r.reads.Add(1)
	return nil, errFailing
}
func (*failingReader) Problem(err error) ui.Problem {
	return ui.Problem{Title: "failed", Detail: err.Error()}
}

// What fails is named, and tried less and less often; by a hidden page not at all.
func TestFailuresAreShownAndTriedAgainLessAndLessOften(t *testing.T) {
	t.Parallel()
	r := &failingReader{}
	b := open(t, servedBy(t, r), "/")
	b.shows(".note", errFailing.Error())
	const period = 10 * time.Second
	// during returns how many watches and reads there are in a period.
	during := func() (watches, reads int32) {
		time.Sleep(time.Second) // Requests that the page has sent arrive.
		watches, reads = r.watches.Load(), r.reads.Load()
		time.Sleep(period)
		return r.watches.Load() - watches, r.reads.Load() - reads
	}
	b.do(chromedp.Evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true}); document.dispatchEvent(new Event('visibilitychange'))", nil))
	if watches, reads := during(); watches > 0 || reads > 0 {
		t.Errorf("the hidden page has begun %d watches, and read %d times", watches, reads)
	}
	b.do(chromedp.Evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))", nil))
	if watches, reads := during(); watches < 2 || watches > 6 || reads < 1 || reads > 5 {
		t.Errorf("in %s the page has begun %d watches, and read %d times", period, watches, reads)
	}
	if state := b.text("document.querySelector('header .state').textContent"); state != "Not connected" {
		t.Errorf("without a watch the page is %s", state)
	}
	r.watching.Store(true)
	b.shows("header .state", "Live")
	if _, reads := during(); reads > 5 {
		t.Errorf("while there are changes the page has read %d times in %s what fails", reads, period)
	}
}

func TestDeepTreesAndLongNames(t *testing.T) {
	b := open(t, servedBy(t, deepReader{}), "/")
	deepest := "row-" + deepName(levels-1)
	const fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
	b.shows(".summary", "1 namespace with problems")
	b.do(chromedp.Focus("[role=treegrid]", chromedp.ByQuery))
	b.press(kb.End)
	b.until("the deepest is reached", active+" === '"+deepest+"' && document.getElementById('"+deepest+"')?.getAttribute('aria-level') === '60'")
	b.shows(".what", "<img src=x onerror=alert(2)>⟨U+202E⟩")
	for _, path := range []string{"/", "/?view=drawing", "/ns/" + deepName(levels-1)} {
		b.visit(path)
		b.shows("main", deepName(0))
		for _, width := range []int64{1280, 390} {
			b.do(chromedp.EmulateViewport(width, 844))
			b.until(fmt.Sprintf("%s fits on a screen of %d points", path, width), fits)
		}
	}
	b.shows(".events .message", "<img src=x onerror=alert(3)>")
	for _, shown := range []int{200, 400, 450} {
		b.until(fmt.Sprintf("%d of 450 children are shown", shown), fmt.Sprintf("document.querySelectorAll('[aria-labelledby=children] li').length === %d", shown))
		if shown < 450 {
			b.click("[aria-labelledby=children] [data-more]")
		}
	}
	for _, shown := range []int{50, 60} {
		b.until(fmt.Sprintf("%d of 60 kinds are shown", shown), fmt.Sprintf("document.querySelectorAll('[aria-labelledby=policy] .kind').length === %d", shown))
		if shown < 60 {
			b.click("[aria-labelledby=policy] > [data-more]")
		}
	}
	b.until("markup is text", "!document.querySelector('main img, main script, main u')")
}
