package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/bench/browser"
)

const (
	// noteFirstRows keeps the time from the beginning of the navigation until a frame with rows, in ms.
	noteFirstRows = `new MutationObserver((_, observer) => {
		if (!document.querySelector('.rows [role=row]')) return
		observer.disconnect()
		requestAnimationFrame(() => { window.firstRows = performance.now() })
	}).observe(document, {childList: true, subtree: true})`
	awaitFirstRows = `new Promise(resolve => { const look = () => window.firstRows ? resolve(window.firstRows) : setTimeout(look, 5); look() })`
	// clickAndDraw is the time from a click until the frame after it is drawn, in ms.
	clickAndDraw = `new Promise(resolve => {
		const button = %s, began = performance.now()
		button.click()
		requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)))
	})`
	button       = "[...document.querySelectorAll('.tools button')].find(b => b.textContent === '%s')"
	largestBelow = "[...document.querySelectorAll('.rows [role=row]')].reduce((a, b) => (+b.children[b.children.length - 2].textContent > +a.children[a.children.length - 2].textContent ? b : a)).querySelector('button')"
)

// measurePage measures the page of `kubectl hns ui` in Chromium, with the whole forest: first rows, expanding and
// memory.
func measurePage(ctx context.Context, b *bench) error {
	path := browser.Find()
	if path == "" {
		return b.skip("page", browser.Missing)
	}
	if err := b.wholeForest(ctx); err != nil {
		return err
	}
	chromium, stop, err := browser.Start(path)
	if err != nil {
		return err
	}
	defer stop()
	served, err := browser.Serve(filepath.Join(b.Root, "_output/bin"), b.cp.Kubeconfig())
	if err != nil {
		return err
	}
	var first, branch, all, memory series
	err = often(b, func(int) error {
		tab, closeTab := chromedp.NewContext(chromium)
		defer closeTab()
		m, err := measureTab(tab, served.URL("/"))
		if err != nil {
			return err
		}
		first.add(m.first, 0)
		branch.add(m.branch, 0)
		all.add(m.all, 0)
		memory.add(m.memory, 0)
		return nil
	})
	if err := errors.Join(err, served.Stop()); err != nil {
		return err
	}
	n := b.forest.len()
	return errors.Join(
		b.report("page-first", "ms", n, first, valueAtMost(1000), "from the address to the first rows"),
		b.report("page-expand", "ms", n, branch, valueAtMost(50), "expanding the largest tree, until it is drawn"),
		b.report("page-expand-all", "ms", n, all, valueAtMost(50), "expanding all namespaces, until they are drawn"),
		b.report("page-memory", "MB", n, memory, valueAtMost(150), "private memory of the tab's process, all namespaces expanded"))
}

// tabMeasures are times in ms, and MB.
type tabMeasures struct{ first, branch, all, memory float64 }

func measureTab(tab context.Context, url string) (m tabMeasures, err error) {
	await := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	draw := func(button string, took *float64) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf(clickAndDraw, button), took, await)
	}
	var ignored float64
	err = chromedp.Run(tab,
		emulation.SetFocusEmulationEnabled(true), chromedp.EmulateViewport(1280, 900),
		chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := page.AddScriptToEvaluateOnNewDocument(noteFirstRows).Do(ctx)
			return err
		}),
		chromedp.Navigate(url), chromedp.Evaluate(awaitFirstRows, &m.first, await),
		draw(fmt.Sprintf(button, "Collapse all"), &ignored), draw(largestBelow, &m.branch),
		draw(fmt.Sprintf(button, "Collapse all"), &ignored), draw(fmt.Sprintf(button, "Expand all"), &m.all),
		chromedp.ActionFunc(func(ctx context.Context) error {
			processes, err := systeminfo.GetProcessInfo().Do(cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser))
			for _, p := range processes {
				if p.Type == "renderer" {
					m.memory = max(m.memory, privateMemory(p.ID))
				}
			}
			return err
		}))
	return m, err
}

// privateMemory returns the memory that a process shares with no file, in MB; 0 if that is not known.
func privateMemory(pid int64) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "RssAnon:")
	var kilobytes float64
	_, _ = fmt.Sscan(after, &kilobytes)
	return kilobytes / 1000
}
