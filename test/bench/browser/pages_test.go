package browser

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// pages are all pages, each with an element and a text in it that says that its data are there, and the name of its
// picture in the documentation.
var pages = []struct{ path, selector, text, picture string }{
	{"/", "#row-team-a", "2/2", "forest"},
	{"/?view=drawing", "svg a", "team-a", "drawing"},
	{"/ns/team-a", "[aria-label='rolebindings.rbac.authorization.k8s.io']", "operators-edit", "namespace"},
	{"/ns/service-1/limitranges/small", "[data-state=Absent]", "It is not in service-1", "object"},
	{"/ns/globex-web/roles.rbac.authorization.k8s.io/auditor", "[data-overwritten]", "What it has overwritten", ""},
	{"/ns/service-1/access", "main", "bob", ""},
	{"/ns/service-1/access?verb=delete&resource=pods", ".list", "bob", "access"},
	{"/quotas", "[data-quota='team-a/team']", "2 of 2", "quotas"},
	{"/plan?namespace=globex-web&change=move&parent=team-a", "[data-plan=move]", "operators-edit", "plan"},
	{"/admin", ".checks", "", "admin"},
	{"/nowhere", "main", "There is no such page", ""},
}

// Each page is free of barriers that axe-core finds, and fits on wide and narrow screens, light and dark.
func TestPages(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join(root, "_output/axe/axe.min.js"))
	if err != nil {
		t.Logf("barriers are not looked for without axe-core: make browser fetches it (%v)", err)
	}
	b := open(t, readOnly, "/")
	for _, p := range pages {
		t.Run(p.path, func(t *testing.T) {
			outer := b.t
			b.t = t
			defer func() { b.t = outer }()
			b.do(chromedp.EmulateViewport(1280, 900), media("light"))
			b.visit(p.path)
			b.shows(p.selector, p.text)
			b.until("nothing is being read", "!document.body.innerText.includes('Reading from the cluster')")
			for _, width := range []int64{1280, 390} {
				b.do(chromedp.EmulateViewport(width, 844))
				b.until(fmt.Sprintf("the page fits on a screen of %d points", width), "document.documentElement.scrollWidth <= document.documentElement.clientWidth")
				for _, scheme := range []string{"light", "dark"} {
					b.do(media(scheme))
					// The colors of narrow pages are those of wide ones.
					if len(axe) > 0 && (width > 390 || scheme == "light") {
						b.withoutBarriers(string(axe))
					}
					b.picture(p.picture, width, scheme)
				}
			}
		})
	}
	b.do(chromedp.EmulateViewport(1280, 900), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}}))
	b.visit("/")
	b.shows("#row-initech .problem", "Parent missing")
	b.until("the active row is outlined in forced colors", "matchMedia('(forced-colors: active)').matches && getComputedStyle(document.querySelector('.row.active')).borderTopStyle !== 'none'")
	if len(axe) > 0 {
		b.withoutBarriers(string(axe))
	}
	b.picture("forest", 1280, "forced")
}

// media emulates a color scheme.
func media(scheme string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}})
}

// withoutBarriers runs axe-core. Data may arrive in the meantime and be drawn in part, so that a finding must last.
func (b *tab) withoutBarriers(axe string) {
	b.t.Helper()
	const find = `axe.run(document, {resultTypes: ['violations']}).then(r => !r.passes.length ? 'nothing was checked' : r.violations.map(v => v.id + ': ' + v.help + '\n  ' +
		v.nodes.map(n => n.target + ' ' + n.failureSummary).join('\n  ')).join('\n'))`
	findings, loaded := "", "not "
	err := wait.PollUntilContextTimeout(b.ctx, suite.Interval, suite.Deadline/4, true, func(ctx context.Context) (bool, error) {
		if err := chromedp.Run(ctx, chromedp.Evaluate("typeof axe", &loaded)); err != nil {
			return false, err
		}
		if loaded == "undefined" {
			if err := chromedp.Run(ctx, chromedp.Evaluate(axe, nil)); err != nil {
				return false, err
			}
		}
		err := chromedp.Run(ctx, chromedp.Evaluate(find, &findings, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
		return findings == "" && err == nil, err
	})
	if err != nil {
		b.t.Errorf("%s: %s\n%s", b.text("location.href + ' ' + innerWidth"), err, findings)
	}
}

// picture writes a picture of the page, if the flag asks for it: wide light ones that docs/ui.md shows into the
// documentation, as high as what they show, and all others into _output/screenshots, to look at.
func (b *tab) picture(name string, width int64, scheme string) {
	b.t.Helper()
	if !*screenshots || name == "" {
		return
	}
	file := filepath.Join(root, "_output/screenshots", fmt.Sprintf("%s-%d-%s.png", name, width, scheme))
	var shot []byte
	page, err := os.ReadFile(filepath.Join(root, "docs/ui.md"))
	if err != nil {
		b.t.Fatal(err)
	}
	if width == 1280 && scheme == "light" && strings.Contains(string(page), "(ui/"+name+".png)") {
		file = filepath.Join(root, "docs/ui", name+".png")
		var bottom float64
		b.do(chromedp.Evaluate("Math.max(...[...document.querySelectorAll('main *, .trees li')].map(e => e.getBoundingClientRect().bottom))", &bottom))
		b.do(chromedp.EmulateViewport(width, min(844, int64(bottom)+24)), chromedp.CaptureScreenshot(&shot), chromedp.EmulateViewport(width, 844))
	} else {
		b.do(chromedp.CaptureScreenshot(&shot))
	}
	pixels, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		b.t.Fatal(err)
	}
	var small bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, paletted(pixels)); err != nil {
		b.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, small.Bytes(), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// paletted returns a picture in its 256 most frequent colors of five bits a channel, which takes a third of the bytes.
func paletted(pixels image.Image) image.Image {
	counts := map[color.Color]int{}
	at := func(x, y int) color.Color {
		r, g, b, _ := pixels.At(x, y).RGBA()
		round := func(v uint32) uint8 { return uint8(v >> 11 * 255 / 31) }
		return color.RGBA{round(r), round(g), round(b), 255}
	}
	bounds := pixels.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[at(x, y)]++
		}
	}
	palette := slices.SortedFunc(maps.Keys(counts), func(a, b color.Color) int { return counts[b] - counts[a] })
	small := image.NewPaletted(bounds, palette[:min(256, len(palette))])
	draw.Draw(small, bounds, pixels, bounds.Min, draw.Src)
	return small
}
