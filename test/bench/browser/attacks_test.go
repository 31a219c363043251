package browser

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// A page of another origin, on the same machine, gets nothing from the page: not in a frame, not as a script, not by
// requests, not even with the token.
func TestOtherOriginsGetNothing(t *testing.T) {
	b := newTab(t)
	token, _, _ := strings.Cut(writing.Token, ".")
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<iframe src="%[1]s/"></iframe><script>
			var got = {}
			const get = (name, path, options) => fetch('%[1]s' + path, options).then(r => r.text()).then(text => got[name] = text, () => got[name] = 'refused')
			get('simple', '/api/forest', {})
			get('token', '/api/forest', {headers: {'X-HNS-Token': '%[2]s'}})
			get('opaque', '/api/forest', {mode: 'no-cors'})
			get('change', '/api/namespaces/acme/changes', {method: 'POST', mode: 'no-cors', body: '{"change":"allow"}'})
			const script = document.createElement('script')
			script.src = '%[1]s/app.js'
			script.onload = () => got.script = 'loaded'
			script.onerror = () => got.script = 'refused'
			document.head.append(script)
		</script>`, writing.Address, token)
	}))
	defer other.Close()
	b.do(chromedp.Navigate(other.URL))
	b.until("all requests have ended", "Object.keys(got).length === 5")
	if got := b.text("JSON.stringify(got)"); got != `{"simple":"refused","token":"refused","opaque":"","change":"","script":"refused"}` {
		for _, name := range []string{"simple", "token", "opaque", "change", "script"} {
			if value := b.text("got." + name); value != "refused" && value != "" {
				t.Errorf("%s: %s", name, value)
			}
		}
	}
	if h, err := hierarchy(t, "acme"); err == nil && h.Spec.AllowCascadingDeletion != nil {
		t.Error("another origin has changed acme")
	}
	var frames *cdppage.FrameTree
	b.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		frames, err = cdppage.GetFrameTree().Do(ctx)
		return err
	}))
	if len(frames.ChildFrames) != 1 || frames.ChildFrames[0].Frame.UnreachableURL == "" {
		t.Errorf("the page is in a frame: %+v", frames.ChildFrames)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	// The refusal to be framed.
	b.faults = nil
}

func TestANameThatResolvesToTheMachineGetsNothing(t *testing.T) {
	b := newTab(t)
	address, err := url.Parse(reading.Address)
	if err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate("http://" + reboundHost + ":" + address.Port() + "/"))
	b.shows("body", "Host header is not")
}

func TestATabWithoutTheTokenGetsNothing(t *testing.T) {
	b := newTab(t)
	b.do(chromedp.Navigate(reading.Address + "/"))
	b.shows("main", "This tab has no valid token")
	b.shows("main", "Do not reload this tab. If the command has ended, run it again")
	b.shows("header .state", "Not connected")
	if text := b.text("document.body.textContent"); strings.Contains(text, "acme") {
		t.Errorf("it shows the cluster: %s", text)
	}
}

// Another user of the machine may serve on the port of a command that has ended, and receives the token of a tab that is
// still open.
func TestATabShowsNothingOfTheNextServerOnItsPort(t *testing.T) {
	p := served(t, "")
	b := open(t, p, "/")
	b.shows("#row-acme", "acme")
	if err := p().Stop(); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp4", strings.TrimPrefix(p().Address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	next := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-HNS-Token", r.Header.Get("X-HNS-Token"))
		_, _ = fmt.Fprint(w, `{"namespaces":[{"name":"forged"}],"quotas":[]}`)
	})}}
	next.Start()
	defer next.Close()
	b.shows(".stale", "Do not reload this tab. If the command has ended, run it again")
	if text := b.text("document.body.textContent"); strings.Contains(text, "forged") || !strings.Contains(text, "acme") {
		t.Errorf("the tab shows %s", text)
	}
}

// Names and texts that others have chosen are shown as text. A script of theirs would fail the test by its dialog, or
// by what the content security policy reports.
func TestMarkupIsText(t *testing.T) {
	const role = "<img src=x onerror=alert(1)>"
	b := open(t, readOnly, "/ns/globex-batch")
	b.shows("[aria-label='roles.rbac.authorization.k8s.io'] a", role)
	b.shows("[aria-label='rolebindings.rbac.authorization.k8s.io'] a", "<b>bold<b>")
	for path, texts := range map[string][]string{
		"/ns/globex-batch/roles.rbac.authorization.k8s.io/" + url.PathEscape(role): {role, "<script>alert(2)</script> ", "⟨U+202E⟩gnp.exe"},
		"/ns/globex-batch/access": {"<script>alert(3)</script>", role},
		"/plan?namespace=globex-batch&change=mode&resource=" + url.QueryEscape(role) + "&mode=Propagate": {role},
		"/ns/globex-batch/access?verb=get&resource=" + url.QueryEscape("$(id)"):                          {"kubectl hns who globex-batch get '$(id)'"},
		"/ns/" + url.PathEscape(role): {"no namespace"},
		"/" + url.PathEscape(role):    {"There is no such page"},
	} {
		b.visit(path)
		for _, text := range texts {
			b.shows("main", text)
		}
		b.until("there is no such element: "+path, "!document.querySelector('main img, main script, main b b')")
	}
}
