// Package browser runs Chromium on the page of `kubectl hns ui`.
package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// Missing says what to do without a browser.
const Missing = "no Chromium found; make browser installs it"

// startTimeout is how long the browser may take to start on a busy machine.
const startTimeout = 2 * time.Minute

// Find returns the path of a Chromium, "" if there is none.
func Find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// Start starts a browser with further options. Contexts of tabs are made from the returned one; stop ends the browser.
func Start(path string, options ...chromedp.ExecAllocatorOption) (browser context.Context, stop context.CancelFunc, err error) {
	all := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(startTimeout),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("force-device-scale-factor", "1"), chromedp.Flag("hide-scrollbars", true))
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), append(all, options...)...)
	browser, closeBrowser := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {
		// Events of a browser that is newer than the library are no errors.
	}))
	stop = func() {
		closeBrowser()
		stopAllocator()
	}
	if err := chromedp.Run(browser); err != nil {
		stop()
		return nil, nil, fmt.Errorf("starting %s: %w", path, err)
	}
	return browser, stop, nil
}

// Page is a running `kubectl hns ui`.
type Page struct {
	Address, Token string
	process        *exec.Cmd
}

// Serve runs `kubectl hns ui` with the binary in binDir, as the user of a kubeconfig.
func Serve(binDir, kubeconfig string, flags ...string) (*Page, error) {
	command := exec.Command(filepath.Join(binDir, "kubectl-hns"), append([]string{"ui", "--open=false"}, flags...)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	p := &Page{process: command}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(err, command.Wait())
	}
	var found bool
	if p.Address, p.Token, found = strings.Cut(strings.TrimSpace(line), "/#token="); !found {
		return nil, errors.Join(fmt.Errorf("kubectl hns ui printed %q", line), p.Stop())
	}
	return p, nil
}

// URL returns the address of a path of the page, with the token.
func (p *Page) URL(path string) string { return p.Address + path + "#token=" + p.Token }

// Stop kills the command.
func (p *Page) Stop() error {
	err := p.process.Process.Kill()
	_ = p.process.Wait()
	return err
}
