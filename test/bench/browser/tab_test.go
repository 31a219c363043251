package browser

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// tab is a tab of the browser. Its methods fail the test.
type tab struct {
	t    *testing.T
	ctx  context.Context
	page *Page

	mu sync.Mutex
	// faults are violations of the content security policy, errors that scripts have thrown, and dialogs of scripts.
	faults []string
}

// newTab opens an empty tab of desktop size, which the end of the test closes. The test fails if there are faults.
func newTab(t *testing.T) *tab {
	t.Helper()
	if chromium == nil {
		t.Skip(Missing)
	}
	ctx, closeTab := chromedp.NewContext(chromium)
	t.Cleanup(closeTab)
	b := &tab{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, b.listen)
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, fault := range b.faults {
			t.Error(fault)
		}
	})
	// The context of the first actions of a tab must not end before the tab does.
	if err := chromedp.Run(ctx); err != nil {
		t.Fatal(err)
	}
	// A tab without the focus would be hidden: the page stops its updates then.
	b.do(log.Enable(), emulation.SetFocusEmulationEnabled(true), chromedp.EmulateViewport(1280, 900))
	return b
}

// open opens a path of the page in a new tab.
func open(t *testing.T, p func() *Page, path string) *tab {
	t.Helper()
	b := newTab(t)
	b.page = p()
	b.do(chromedp.Navigate(b.page.URL(path)))
	return b
}

func readOnly() *Page { return reading }
func writable() *Page { return writing }

func (b *tab) listen(event any) {
	fault := ""
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if strings.Contains(e.Entry.Text, "Content Security Policy") {
			fault = e.Entry.Text
		}
	case *runtime.EventExceptionThrown:
		fault = e.ExceptionDetails.Error()
	case *cdppage.EventJavascriptDialogOpening:
		fault = "a script has opened a dialog: " + e.Message
	}
	if fault != "" {
		b.mu.Lock()
		b.faults = append(b.faults, fault)
		b.mu.Unlock()
	}
}

// do runs actions, all within the deadline.
func (b *tab) do(actions ...chromedp.Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, suite.Deadline)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// visit opens another path of the page in the tab.
func (b *tab) visit(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.page.Address + path))
}

// text returns the value of a JavaScript expression as text.
func (b *tab) text(expression string) string {
	b.t.Helper()
	var text string
	b.do(chromedp.Evaluate("String("+expression+")", &text))
	return text
}

// until polls until a JavaScript expression is true.
func (b *tab) until(what, expression string) {
	b.t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(b.ctx, suite.Interval, suite.Deadline, true, func(ctx context.Context) (bool, error) {
		var is bool
		last = chromedp.Run(ctx, chromedp.Evaluate("!!("+expression+")", &is))
		return is && last == nil, nil
	})
	if err != nil {
		b.t.Fatalf("%s: %s is not true (%v); %s shows:\n%s", what, expression, last, b.text("location.href"), b.text("document.body.innerText"))
	}
}

// shows polls until an element that a selector finds contains a text.
func (b *tab) shows(selector, text string) {
	b.t.Helper()
	b.until(fmt.Sprintf("%s shows %q", selector, text), fmt.Sprintf("[...document.querySelectorAll(%q)].some(e => e.textContent.includes(%q))", selector, text))
}

// click clicks the first element that a selector finds.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(selector, chromedp.ByQuery))
}

// press presses keys in the element that has the focus.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		b.do(chromedp.KeyEvent(key))
	}
}
