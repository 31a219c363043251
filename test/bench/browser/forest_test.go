package browser

import (
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// active is the row that the keyboard is in.
const active = `document.querySelector('[role=treegrid]')?.getAttribute('aria-activedescendant')`

func TestForestShowsProblemsFirstAndIsUsedWithTheKeyboardAlone(t *testing.T) {
	b := open(t, readOnly, "/")
	b.shows("#row-initech .problem", "Parent missing")
	b.until("problems are first", "document.querySelector('.rows [role=row]').id === 'row-initech'")
	for name, level := range map[string]string{"acme": "1", "team-a": "2", "service-1": "3", "globex": "1"} {
		if got := b.text("document.getElementById('row-" + name + "').getAttribute('aria-level')"); got != level {
			t.Errorf("%s is at level %s, want %s", name, got, level)
		}
	}

	// As a key of a keyboard does: its character is entered unless the page prevents it.
	b.do(input.DispatchKeyEvent(input.KeyDown).WithKey("/").WithText("/"), input.DispatchKeyEvent(input.KeyUp).WithKey("/"))
	b.until("/ goes to the filter", "document.activeElement.id === 'search'")
	b.press("team-a")
	b.until("the filter finds namespaces and shows their ancestors", "!document.getElementById('row-globex') && document.getElementById('row-acme') && document.getElementById('row-team-a')")
	b.do(chromedp.SendKeys("#search", kb.Backspace+kb.Backspace+kb.Backspace+kb.Backspace+kb.Backspace+kb.Backspace, chromedp.ByQuery))
	b.until("without a filter all are shown", "document.getElementById('row-globex')")

	b.do(chromedp.Focus("[role=treegrid]", chromedp.ByQuery))
	for _, step := range []struct{ what, key, want string }{
		{"Home goes to the first row", kb.Home, active + " === 'row-initech'"},
		{"down goes to the next row", kb.ArrowDown, active + " === 'row-acme'"},
		{"right goes into an open branch", kb.ArrowRight, active + " === 'row-team-a'"},
		{"left closes a branch", kb.ArrowLeft, "!document.getElementById('row-service-1')"},
		{"right opens a branch", kb.ArrowRight, "document.getElementById('row-service-1')"},
		{"down goes into it", kb.ArrowDown, active + " === 'row-service-1'"},
		{"left goes to the parent", kb.ArrowLeft, active + " === 'row-team-a'"},
		{"Enter opens the namespace", kb.Enter, "location.pathname === '/ns/team-a' && document.querySelector('h1').innerText === 'team-a'"},
		{"the focus is in the new page", "", "document.activeElement === document.querySelector('main')"},
	} {
		if step.key != "" {
			b.press(step.key)
		}
		b.until(step.what, step.want)
	}
}
