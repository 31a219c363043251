package propagator

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/forest"
)

// TestWhateverIsConfiguredTheClusterConverges has users change objects, annotations, labels, parents and the configuration at once,
// and asks in the end whether every namespace has what it should. It knows nothing of how the propagator decides.
func TestWhateverIsConfiguredTheClusterConverges(t *testing.T) {
	c := newCluster(t)
	var all []string
	for i := range 5 {
		all = append(all, fmt.Sprintf("n%d", i))
		c.namespace(all[i])
	}
	c.configure("widgets.example.com Propagate")
	c.start()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var users sync.WaitGroup
	for user := range 3 {
		users.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(user)))
			for range 200 {
				c.mu.Lock()
				c.meddleWithWidgets(random, all)
				c.mu.Unlock()
				runtime.Gosched()
			}
		})
	}
	random := rand.New(rand.NewPCG(seed, 99))
	for range 4 {
		mode := []string{"Propagate", "AllowPropagate", "Remove", "Ignore"}[random.IntN(4)]
		c.configure("widgets.example.com " + mode + []string{"", " Keep"}[random.IntN(2)])
		c.eventually("mode", mode, func() string { return strings.Fields(c.configured("widgets"))[0] })
	}
	users.Wait()
	mode, keep := []string{"Propagate", "AllowPropagate", "Remove"}[random.IntN(3)], random.IntN(2) == 0
	entry := "widgets.example.com " + mode
	if keep {
		entry += " Keep"
	}
	c.configure(entry)
	t.Log(entry)
	c.eventually("the cluster", "as it should be", func() string {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.judgeWidgets(mode, keep)
	})
	c.eventually("the numbers", "right", func() string {
		c.mu.Lock()
		copied, sources := 0, 0
		for l, o := range c.objects {
			if _, isCopy := o.GetLabels()[hnc.LabelInheritedFrom]; l.resource == "widgets" && isCopy {
				copied++
			} else if l.resource == "widgets" {
				sources++
			}
		}
		c.mu.Unlock()
		want := fmt.Sprintf("%s %d/%d", mode, copied, sources)
		if mode == "Remove" {
			// Those that are left are where activities are halted.
			want = fmt.Sprintf("Remove %d/-", copied)
		}
		if got := c.configured("widgets"); got != want {
			return got + " instead of " + want
		}
		return "right"
	})
}

// widgetAnnotations are what sources may say, and what that means for a namespace with a chain, itself first, and labels.
var widgetAnnotations = []struct {
	json     string
	selected func(byDefault bool, chain []string, labels map[string]string) bool
}{
	{`null`, func(byDefault bool, _ []string, _ map[string]string) bool { return byDefault }},
	{`{"propagate.hnc.x-k8s.io/none":"true"}`, func(bool, []string, map[string]string) bool { return false }},
	{`{"propagate.hnc.x-k8s.io/all":"true"}`, func(bool, []string, map[string]string) bool { return true }},
	{`{"propagate.hnc.x-k8s.io/select":"env=prod"}`, func(_ bool, _ []string, labels map[string]string) bool { return labels["env"] == "prod" }},
	{`{"propagate.hnc.x-k8s.io/treeSelect":"n1"}`, func(_ bool, chain []string, _ map[string]string) bool { return slices.Contains(chain, "n1") }},
	{`{"propagate.hnc.x-k8s.io/treeSelect":"!n2"}`, func(_ bool, chain []string, _ map[string]string) bool { return !slices.Contains(chain, "n2") }},
	{`{"propagate.hnc.x-k8s.io/treeSelect":"n1,"}`, func(bool, []string, map[string]string) bool { return false }},
}

// meddleWithWidgets does something as a user. What can't be done isn't. The lock must be held.
func (c *cluster) meddleWithWidgets(random *rand.Rand, all []string) {
	pick := func(names []string) string { return names[random.IntN(len(names))] }
	ns, widget := pick(all), pick([]string{"x", "y"})
	l := location{"widgets", ns, widget}
	switch random.IntN(6) {
	case 0:
		h, parent := location{"hierarchies", ns, hnc.Singleton}, pick(append([]string{""}, all...))
		if c.objects[h] == nil {
			c.write("POST", location{"hierarchies", ns, ""}, false, body("hnc.x-k8s.io/v1beta1", "Hierarchy", hnc.Singleton, `"spec":{"parent":"`+parent+`"}`))
		} else {
			c.write("PATCH", h, false, []byte(`{"spec":{"parent":"`+parent+`"}}`))
		}
	case 1:
		c.write("PATCH", location{"namespaces", "", ns}, false, []byte(`{"metadata":{"labels":{"env":`+pick([]string{`"prod"`, `"dev"`, "null"})+`}}}`))
	case 2:
		c.write("DELETE", l, false, nil)
	default:
		kind := widgetAnnotations[random.IntN(len(widgetAnnotations))]
		value := fmt.Sprint(random.IntN(3))
		if _, failed := c.write("POST", location{"widgets", ns, ""}, false, body("example.com/v1", "Widget", widget, `"value":"`+value+`"`)); failed != nil {
			c.write("PATCH", l, false, []byte(`{"value":"`+value+`","metadata":{"annotations":{"propagate.hnc.x-k8s.io/none":null,`+
				`"propagate.hnc.x-k8s.io/all":null,"propagate.hnc.x-k8s.io/select":null,"propagate.hnc.x-k8s.io/treeSelect":null}}}`))
		}
		c.write("PATCH", l, false, []byte(`{"metadata":{"annotations":`+kind.json+`}}`))
	}
}

// judgeWidgets returns what is not as it should be. The lock must be held.
func (c *cluster) judgeWidgets(mode string, keep bool) string {
	f := forest.New(func(string) bool { return false })
	namespaces := c.in("namespaces", "")
	for name := range namespaces {
		f.SetExists(name, true)
		if h := c.objects[location{"hierarchies", name, hnc.Singleton}]; h != nil {
			parent, _, _ := unstructured.NestedString(h.Object, "spec", "parent")
			f.SetParent(name, parent)
		}
	}
	for name, ns := range namespaces {
		if at, _ := f.HaltedAt(name); at != "" {
			continue
		}
		chain := f.Chain(name)
		for _, widget := range []string{"x", "y"} {
			got, want := "", ""
			present := c.objects[location{"widgets", name, widget}]
			if present != nil {
				got = fmt.Sprint(present.Object["value"], "<", present.GetLabels()[hnc.LabelInheritedFrom])
			}
			if present != nil && present.GetLabels()[hnc.LabelInheritedFrom] == "" {
				want = got
			}
			if from := c.governingWidget(chain, widget, mode, ns.GetLabels()); from != "" && (want == "" || !keep) {
				want = fmt.Sprint(c.objects[location{"widgets", from, widget}].Object["value"], "<", from)
			}
			if got != want {
				return fmt.Sprintf("%s has %s=%q, want %q", name, widget, got, want)
			}
		}
	}
	return "as it should be"
}

// governingWidget returns the topmost ancestor whose source is selected, "" if there is none.
func (c *cluster) governingWidget(chain []string, widget, mode string, labels map[string]string) string {
	for i := len(chain) - 1; i > 0 && mode != "Remove"; i-- {
		o := c.objects[location{"widgets", chain[i], widget}]
		if o == nil || o.GetLabels()[hnc.LabelInheritedFrom] != "" {
			continue
		}
		says := "null"
		for key, value := range o.GetAnnotations() {
			says = `{"` + key + `":"` + value + `"}`
		}
		for _, a := range widgetAnnotations {
			if a.json == says && a.selected(mode == "Propagate", chain, labels) {
				return chain[i]
			}
		}
	}
	return ""
}
