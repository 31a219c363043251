package propagation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// TestClusterConvergesWhateverIsConfigured has users change objects, annotations, labels, parents and the configuration
// at once, and checks in the end that every namespace has what it should have. It does not use the decisions of the
// propagator.
func TestClusterConvergesWhateverIsConfigured(t *testing.T) {
	c := newCluster(t)
	var all []string
	for i := range 5 {
		all = append(all, fmt.Sprintf("n%d", i))
	}
	c.namespaces(all...)
	c.configure(widget + "Propagate")
	c.start()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var running sync.WaitGroup
	var accepted atomic.Int32
	for user := range uint64(3) {
		running.Go(func() {
			random := rand.New(rand.NewPCG(seed, user))
			for range 50 {
				if c.changeWidgets(random, all) == nil {
					accepted.Add(1)
				}
			}
		})
	}
	random := rand.New(rand.NewPCG(seed, 99))
	// set configures a mode unless that would overwrite an object, which the API server refuses.
	set := func(entry string) bool {
		err := c.try("hncconfigurations", "", hnc.ConfigurationName, object{"spec": object{"resources": entriesOf([]string{entry})}})
		if err != nil && !apierrors.IsConflict(err) {
			t.Error(err)
		}
		return err == nil
	}
	for range 4 {
		mode := pick(random, []string{"Propagate", "AllowPropagate", "Remove", "Ignore"})
		if set(widget + mode + pick(random, []string{"", " Keep"})) {
			c.eventually("mode", mode, func() string { return strings.Fields(c.configured("widgets"))[0] })
		}
	}
	running.Wait()
	if n := accepted.Load(); n < 20 {
		t.Errorf("only %d of 150 changes were accepted", n)
	}
	mode, keep := pick(random, []string{"Propagate", "AllowPropagate", "Remove"}), random.IntN(2) == 0
	if entry := widget + mode; keep || !set(entry) {
		keep = true
		c.configure(entry + " Keep")
	}
	t.Log(mode, " keep=", keep)
	c.eventually("the cluster", "converged", func() string { return c.widgetDivergence(mode, keep) })
	c.eventually("the numbers", "match", func() string {
		copied, sources := 0, 0
		for _, u := range c.list("widgets", "") {
			if u.GetLabels()[hnc.LabelInheritedFrom] != "" {
				copied++
			} else {
				sources++
			}
		}
		want := fmt.Sprintf("%s %d/%d", mode, copied, sources)
		if mode == "Remove" {
			// Those that are left are in halted namespaces.
			want = fmt.Sprintf("Remove %d/-", copied)
		}
		if got := c.configured("widgets"); got != want {
			return got + " instead of " + want
		}
		return "match"
	})
}

// widgetAnnotations are the annotations that select, without prefix, with what they mean for a namespace with a chain,
// itself first, and labels.
var widgetAnnotations = []struct {
	key, value string
	selected   func(byDefault bool, chain []string, labels map[string]string) bool
}{
	{"", "", func(byDefault bool, _ []string, _ map[string]string) bool { return byDefault }},
	{hnc.AnnotationNone, "true", func(bool, []string, map[string]string) bool { return false }},
	{hnc.AnnotationAll, "true", func(bool, []string, map[string]string) bool { return true }},
	{hnc.AnnotationSelect, "env=prod", func(_ bool, _ []string, labels map[string]string) bool { return labels["env"] == "prod" }},
	{hnc.AnnotationTreeSelect, "n1", func(_ bool, chain []string, _ map[string]string) bool { return slices.Contains(chain, "n1") }},
	{hnc.AnnotationTreeSelect, "!n2", func(_ bool, chain []string, _ map[string]string) bool { return !slices.Contains(chain, "n2") }},
	{hnc.AnnotationTreeSelect, "n1,", func(bool, []string, map[string]string) bool { return false }},
}

// changeWidgets does something as a user, if the API servers let him. Otherwise it returns the error.
func (c *cluster) changeWidgets(random *rand.Rand, all []string) (err error) {
	ns, name := pick(random, all), pick(random, []string{"x", "y"})
	switch random.IntN(6) {
	case 0:
		err = c.try("hierarchies", ns, hnc.Singleton, object{"spec": object{"parent": c.full(pick(random, append([]string{""}, all...)))}})
	case 1:
		var label any
		if value := pick(random, []string{"prod", "dev", ""}); value != "" {
			label = value
		}
		err = c.try("namespaces", "", c.full(ns), object{"metadata": object{"labels": object{"env": label}}})
	case 2:
		err = c.client("widgets", ns).Delete(c.t.Context(), name, metav1.DeleteOptions{})
	default:
		kind := widgetAnnotations[random.IntN(len(widgetAnnotations))]
		annotations := object{hnc.AnnotationNone: nil, hnc.AnnotationAll: nil, hnc.AnnotationSelect: nil, hnc.AnnotationTreeSelect: nil}
		if kind.key != "" {
			annotations[kind.key] = strings.ReplaceAll(kind.value, "n", c.full("n"))
			if kind.key == hnc.AnnotationSelect || kind.value == "true" {
				annotations[kind.key] = kind.value
			}
		}
		err = c.try("widgets", ns, name, object{"data": object{"value": fmt.Sprint(random.IntN(3))}, "metadata": object{"annotations": annotations}})
	}
	return err
}

// widgetDivergence returns which namespace has a widget that it should not have, or lacks one.
func (c *cluster) widgetDivergence(mode string, keep bool) string {
	s := c.snapshot()
	widgets := map[string]unstructured.Unstructured{}
	for _, u := range c.list("widgets", "") {
		widgets[u.GetNamespace()+"/"+u.GetName()] = u
	}
	for name, ns := range s.namespaces {
		if at, _ := s.forest.HaltedAt(name); at != "" {
			continue
		}
		chain := s.forest.Chain(name)
		for _, object := range []string{"x", "y"} {
			got, want := "", ""
			if present, ok := widgets[name+"/"+object]; ok {
				got = valueOf(present) + "<" + present.GetLabels()[hnc.LabelInheritedFrom]
				if present.GetLabels()[hnc.LabelInheritedFrom] == "" {
					want = got
				}
			}
			if from := c.governing(widgets, chain, object, mode, ns.GetLabels()); from != "" && (want == "" || !keep) {
				want = valueOf(widgets[from+"/"+object]) + "<" + from
			}
			if got != want {
				return fmt.Sprintf("%s has %s=%q, want %q", name, object, got, want)
			}
		}
	}
	return "converged"
}

// governing returns the topmost ancestor whose source is selected, "" if there is none.
func (c *cluster) governing(widgets map[string]unstructured.Unstructured, chain []string, name, mode string, labels map[string]string) string {
	var short []string
	for _, ancestor := range chain {
		short = append(short, c.short(ancestor))
	}
	for i := len(chain) - 1; i > 0 && mode != "Remove"; i-- {
		o, ok := widgets[chain[i]+"/"+name]
		if !ok || o.GetLabels()[hnc.LabelInheritedFrom] != "" {
			continue
		}
		for _, a := range widgetAnnotations {
			has := len(o.GetAnnotations()) == 0
			if a.key != "" {
				has = c.short(o.GetAnnotations()[a.key]) == a.value
			}
			if !has {
				continue
			}
			if a.selected(mode == "Propagate", short, labels) {
				return chain[i]
			}
			break
		}
	}
	return ""
}
