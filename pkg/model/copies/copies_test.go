package copies

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

var version int

func next() string {
	version++
	return strconv.Itoa(version)
}

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func object(t *testing.T, text string) *Object {
	t.Helper()
	o, err := NewObject(parse(t, text), &Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const source = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"namespace":"root","name":"x","uid":"u1","resourceVersion":"7",
	"generation":3,"generateName":"x-","creationTimestamp":"2030-01-01T00:00:00Z","managedFields":[{"manager":"m"}],
	"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u2"}],
	"labels":{"app":"shop","app.kubernetes.io/managed-by":"Helm","hnc.x-k8s.io/l":"1","foo-hnc.x-k8s.io/l":"1","hnc.x-k8s.io":"kept"},
	"annotations":{"note":"n","propagate.hnc.x-k8s.io/none":"false","kubectl.kubernetes.io/last-applied-configuration":"{}"}},
	"spec":{"replicas":3,"ratio":0.5},"status":{"ready":true}}`

// Spec/hnc.md 3.9, both columns, but for kubectl's annotation, which HNC keeps.
func TestCopyKeptAndCopyDropped(t *testing.T) {
	o := object(t, source)
	if o.Copy || o.Finalized {
		t.Fatalf("not a plain source: %+v", o)
	}
	var got, want any
	if err := json.Unmarshal(o.content.body("", ""), &got); err != nil {
		t.Fatal(err)
	}
	copied := `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"x",
		"labels":{"app":"shop","app.kubernetes.io/managed-by":"hnc.x-k8s.io","hnc.x-k8s.io/inherited-from":"root","hnc.x-k8s.io":"kept"},
		"annotations":{"note":"n"}},"spec":{"replicas":3,"ratio":0.5}}`
	if err := json.Unmarshal([]byte(copied), &want); err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	if string(a) != string(b) {
		t.Errorf("copy\n%s, want\n%s", a, b)
	}
}

func TestABodyNamesTheVersionThatItReplaces(t *testing.T) {
	u := parse(t, string(object(t, source).content.body("u9", "12")))
	if u.GetUID() != "u9" || u.GetResourceVersion() != "12" || u.GetName() != "x" {
		t.Errorf("%v", u.Object["metadata"])
	}
}

// stored returns what a server stores of a source's copy.
func stored(t *testing.T, o *Object, namespace string, change func(*unstructured.Unstructured)) *Object {
	t.Helper()
	u := parse(t, string(o.content.body("", "")))
	u.SetNamespace(namespace)
	u.SetUID(types.UID("uid-" + namespace))
	u.SetResourceVersion(next())
	u.SetGeneration(1)
	if change != nil {
		change(u)
	}
	c, err := NewObject(u, &Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheDigestOfARightCopyIsThatOfItsSource(t *testing.T) {
	o := object(t, source)
	for name, test := range map[string]struct {
		change func(*unstructured.Unstructured)
		same   bool
	}{
		"COPY-compared as written":    {nil, true},
		"COPY-compared with a status": {func(u *unstructured.Unstructured) { u.Object["status"] = "x" }, true},
		"with a finalizer":            {func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"a/b"}) }, true},
		"with an owner": {func(u *unstructured.Unstructured) {
			u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u"}})
		}, false},
		"COPY-compared with another payload": {func(u *unstructured.Unstructured) { u.Object["spec"] = "x" }, false},
		"with one more field":                {func(u *unstructured.Unstructured) { u.Object["data"] = "x" }, false},
		"with one more label":                {func(u *unstructured.Unstructured) { setLabel(u, "a", "b") }, false},
		"without managed-by":                 {func(u *unstructured.Unstructured) { setLabel(u, "app.kubernetes.io/managed-by", "me") }, false},
		"from another namespace":             {func(u *unstructured.Unstructured) { setLabel(u, "hnc.x-k8s.io/inherited-from", "x") }, false},
		"COPY-compared with an annotation":   {func(u *unstructured.Unstructured) { u.SetAnnotations(map[string]string{"note": "changed"}) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := stored(t, o, "child", test.change)
			if !c.Copy {
				t.Fatal("not a copy")
			}
			if (c.Digest == o.Digest) != test.same {
				t.Errorf("same digest: %v, want %v", c.Digest == o.Digest, test.same)
			}
		})
	}
}

func setLabel(u *unstructured.Unstructured, key, value string) {
	labels := u.GetLabels()
	labels[key] = value
	u.SetLabels(labels)
}

func role(t *testing.T, namespace, name, verb string, labels ...string) *Object {
	t.Helper()
	u := parse(t, `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{},"rules":[{"verbs":["`+verb+`"]}]}`)
	u.SetNamespace(namespace)
	u.SetName(name)
	u.SetUID(types.UID(namespace + "/" + name))
	u.SetResourceVersion(next())
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		u.SetLabels(map[string]string{key: value})
	}
	o, err := NewObject(u, &Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// belowRoot is the namespace leaf right below root.
var belowRoot = Destination{Namespace: "leaf", Ancestors: []string{"root"}}

const from = "hnc.x-k8s.io/inherited-from="

// show writes writes as "verb name from namespace".
func show(writes []Write) string {
	var words []string
	for _, w := range writes {
		word := string(w.Verb) + " " + w.Name
		if w.Source != nil {
			word += " from " + w.Source.Namespace
		}
		if w.Verb == Update && w.Overwrites() {
			word += " over a local one"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

func TestWhatIsWrittenInANamespace(t *testing.T) {
	copyOf := func(o *Object) *Object { return stored(t, o, "leaf", nil) }
	finalized := func(o *Object) *Object { o.unfit = true; return o }
	doomed := func(o *Object) *Object { o.Terminating = true; return o }
	rootX, midX := role(t, "root", "x", "get"), role(t, "mid", "x", "list")
	for name, test := range map[string]struct {
		given           []*Object
		removed, wanted string
	}{
		"nothing":                                {nil, "", ""},
		"a source of the root":                   {[]*Object{rootX}, "", "create x from root"},
		"CASE-5 the topmost source governs":      {[]*Object{rootX, midX}, "", "create x from root"},
		"one that can't be copied does not":      {[]*Object{finalized(role(t, "root", "x", "get")), midX}, "", "create x from mid"},
		"a copy between is not a source":         {[]*Object{stored(t, rootX, "mid", nil)}, "", ""},
		"a right copy":                           {[]*Object{rootX, copyOf(rootX)}, "", ""},
		"an outdated copy":                       {[]*Object{role(t, "root", "x", "watch"), copyOf(rootX)}, "", "update x from root"},
		"a copy of another source":               {[]*Object{rootX, midX, copyOf(midX)}, "", "update x from root"},
		"a copy without a source":                {[]*Object{copyOf(rootX)}, "delete x", ""},
		"a copy of one that can't be copied":     {[]*Object{finalized(role(t, "root", "x", "get")), copyOf(rootX)}, "delete x", ""},
		"a terminating copy":                     {[]*Object{doomed(copyOf(rootX))}, "wait x", ""},
		"a terminating copy of a source":         {[]*Object{role(t, "root", "x", "watch"), doomed(copyOf(rootX))}, "", "wait x from root"},
		"a terminating object in the way":        {[]*Object{rootX, doomed(role(t, "leaf", "x", "get"))}, "", "wait x from root"},
		"a terminating object of its own":        {[]*Object{doomed(role(t, "leaf", "own", "get"))}, "", ""},
		"a terminating source":                   {[]*Object{doomed(role(t, "root", "x", "get"))}, "", "create x from root"},
		"an object of its own":                   {[]*Object{role(t, "leaf", "own", "get")}, "", ""},
		"CASE-5 an object of its own in the way": {[]*Object{rootX, role(t, "leaf", "x", "get")}, "", "update x from root over a local one"},
		"an orphaned copy with any value":        {[]*Object{role(t, "leaf", "y", "get", from)}, "delete y", ""},
		"an unrelated namespace":                 {[]*Object{role(t, "elsewhere", "x", "get")}, "", ""},
		"a mixture in order": {
			[]*Object{role(t, "root", "b", "get"), role(t, "mid", "a", "get"), role(t, "leaf", "d", "get", from+"root"), role(t, "leaf", "c", "get", from+"x")},
			"delete c, delete d", "create a from mid, create b from root",
		},
	} {
		t.Run(name, func(t *testing.T) {
			index := NewIndex(Roles)
			for _, o := range test.given {
				index.Set(o)
			}
			leaf := Destination{Namespace: "leaf", Ancestors: []string{"root", "mid"}}
			removals, writes := index.DecideAll(leaf)
			if got := show(removals); got != test.removed {
				t.Errorf("removed %q, want %q", got, test.removed)
			}
			if got := show(writes); got != test.wanted {
				t.Errorf("written %q, want %q", got, test.wanted)
			}
			if right := len(removals)+len(writes) == 0; index.Right(leaf) != right {
				t.Errorf("right is %v, want %v", !right, right)
			}
			// One by one it is the same.
			var single []Write
			for _, name := range []string{"a", "b", "c", "d", "own", "x", "y"} {
				if w := index.Decide(leaf, name); w != nil {
					single = append(single, *w)
				}
			}
			both := append(slices.Clone(removals), writes...)
			slices.SortFunc(both, func(a, b Write) int { return strings.Compare(a.Name, b.Name) })
			if got, want := show(single), show(both); got != want {
				t.Errorf("one by one %q, want %q", got, want)
			}
		})
	}
}
