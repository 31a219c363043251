package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/adoption"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
)

// movesFixture has a server that fails writes of one namespace, and records the writes as namespace<parent; dry runs
// have a question mark.
type movesFixture struct {
	*fake.Clientset
	stored map[string]*v1beta1.Hierarchy
	writes []string
	failed string
	// namespace is the UID of all namespaces.
	namespace types.UID
}

func newMovesFixture() *movesFixture {
	f := &movesFixture{Clientset: fake.NewClientset(), stored: map[string]*v1beta1.Hierarchy{}}
	f.PrependReactor("get", "hierarchies", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if h := f.stored[action.GetNamespace()]; h != nil {
			return true, h, nil
		}
		return true, nil, apierrors.NewNotFound(hnc.Resource("hierarchies"), hnc.Singleton)
	})
	f.PrependReactor("create", "hierarchies", func(action clienttesting.Action) (bool, runtime.Object, error) {
		create := action.(clienttesting.CreateActionImpl)
		h := create.GetObject().(*v1beta1.Hierarchy)
		dry := len(create.CreateOptions.DryRun) > 0
		write := h.Namespace + "<" + h.Spec.Parent
		if dry {
			write += "?"
		}
		f.writes = append(f.writes, write)
		if write == f.failed {
			return true, nil, apierrors.NewForbidden(hnc.Resource("hierarchies"), hnc.Singleton, errors.New("not yours"))
		}
		if !dry {
			f.stored[h.Namespace] = h
		}
		return true, h, nil
	})
	return f
}

func (f *movesFixture) mover(streams genericiooptions.IOStreams) *mover {
	meta := metadatafake.NewSimpleMetadataClient(metadatafake.NewTestScheme())
	meta.PrependReactor("get", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: f.namespace}}, nil
	})
	c := &Clients{Hierarchy: f, namespaces: meta.Resource(NamespaceResource)}
	return &mover{clients: c, validating: c, errOut: streams.ErrOut}
}

var threeMoves = []adoption.Move{{Namespace: "b", Parent: "a"}, {Namespace: "c", Parent: "b"}, {Namespace: "d", Parent: "c"}}

func TestMovesAreValidatedBeforeTheFirstIsMade(t *testing.T) {
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	f := newMovesFixture()
	f.failed = "c<b?"
	_, _, err := f.mover(streams).validate(t.Context(), threeMoves)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "Could not move c, so nothing was changed.") {
		t.Errorf("got %v", err)
	}
	if want := []string{"b<a?", "c<b?"}; !slices.Equal(f.writes, want) {
		t.Errorf("wrote %v, want %v", f.writes, want)
	}
}

func TestMovesStopAtTheFirstErrorAndContinue(t *testing.T) {
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	f := newMovesFixture()
	o := &adoptOptions{IOStreams: streams}
	m := f.mover(streams)
	apply := func() error {
		f.writes = nil
		pending, _, err := m.validate(t.Context(), threeMoves)
		if err != nil {
			t.Fatal(err)
		}
		return o.move(t.Context(), m, pending)
	}
	f.failed = "c<b"
	err := apply()
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "Could not move c. Namespaces moved: 1; not moved: c, d. Repeat the command to continue.") {
		t.Errorf("got %v", err)
	}
	if want := []string{"b<a?", "c<b?", "d<c?", "b<a", "c<b"}; !slices.Equal(f.writes, want) {
		t.Errorf("wrote %v, want %v", f.writes, want)
	}
	f.failed = ""
	if err := apply(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"c<b?", "d<c?", "c<b", "d<c"}; !slices.Equal(f.writes, want) {
		t.Errorf("wrote %v, want %v", f.writes, want)
	}
	if want := "namespace/b moved below a\nnamespace/c moved below b\nnamespace/d moved below c\nnamespaces moved: 2, unchanged: 1\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

// Users may label their namespaces: that takes none out of a tree unnoticed, and does not stop the moves of others.
func TestMovesFromLabelsSkipWhatTheyMustNotMove(t *testing.T) {
	for _, relocates := range []bool{false, true} {
		streams, _, out, _ := genericiooptions.NewTestIOStreams()
		f := newMovesFixture()
		f.stored["b"] = &v1beta1.Hierarchy{Spec: v1beta1.HierarchySpec{Parent: "corp"}}
		f.failed = "c<b?"
		m := f.mover(streams)
		m.skips, m.relocates = true, relocates
		pending, skipped, err := m.validate(t.Context(), threeMoves)
		if err != nil {
			t.Fatal(err)
		}
		if err := (&adoptOptions{IOStreams: streams, dryRun: "server"}).printValidated(pending); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(skipped)
		if !strings.Contains(text, "{c ") || !strings.Contains(text, "not yours") || strings.Contains(text, "{b it is below corp; move it by --move}") == relocates {
			t.Errorf("move: %t: skipped %s", relocates, text)
		}
		if strings.Contains(out.String(), "namespace/b moved below a (now below corp) (server dry run)\n") != relocates || !strings.Contains(out.String(), "namespace/d moved below c (server dry run)\n") {
			t.Errorf("move: %t: printed %s", relocates, out)
		}
	}
}

// Between the validation and the moves, users change parents, and labels may name parents that only an earlier move
// makes descendants.
func TestMovesFromLabelsContinueWithoutThoseThatFail(t *testing.T) {
	for _, format := range []string{"", "json"} {
		streams, _, out, warned := genericiooptions.NewTestIOStreams()
		f := newMovesFixture()
		m := f.mover(streams)
		m.skips = true
		pending, _, err := m.validate(t.Context(), threeMoves)
		if err != nil {
			t.Fatal(err)
		}
		f.failed = "b<a"
		f.stored["c"] = &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{UID: "u"}, Spec: v1beta1.HierarchySpec{Parent: "corp"}}
		if err := (&adoptOptions{IOStreams: streams, output: OutputFlag{Format: format}}).move(t.Context(), m, pending); !errors.Is(err, ErrFound) {
			t.Errorf("got %v", err)
		}
		if pending[0].outcome != outcomeSkipped || pending[1].outcome != outcomeSkipped || pending[2].outcome != outcomeMoved {
			t.Errorf("outcomes: %v", pending)
		}
		for _, warning := range []string{"namespace b is skipped: ", "not yours", "namespace c is skipped: the namespace or its hierarchy has changed since it was validated (now below corp)"} {
			if !strings.Contains(warned.String(), warning) {
				t.Errorf("not warned of %q: %s", warning, warned)
			}
		}
		if text := out.String(); format == "" && text != "namespace/d moved below c\nnamespaces moved: 1, unchanged: 0\n" || strings.Contains(text, `"namespace": "b"`) || strings.Contains(text, `"namespace": "c"`) {
			t.Errorf("printed %s", text)
		}
	}
}

// What was shown and confirmed is not done to a namespace that somebody else has moved meanwhile.
func TestMovesDoNotOverwriteOthers(t *testing.T) {
	hierarchy := func(uid types.UID, version, parent string) *v1beta1.Hierarchy {
		return &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{UID: uid, ResourceVersion: version}, Spec: v1beta1.HierarchySpec{Parent: parent}}
	}
	for name, test := range map[string]struct {
		shown, now *v1beta1.Hierarchy
		namespace  types.UID
		want       string
	}{
		"another status":                    {hierarchy("u", "1", ""), hierarchy("u", "2", ""), "n", ""},
		"its first hierarchy":               {nil, hierarchy("u", "2", ""), "n", ""},
		"another parent":                    {hierarchy("u", "1", ""), hierarchy("u", "2", "corp"), "n", "its hierarchy has changed since it was validated (now below corp)"},
		"its first parent":                  {nil, hierarchy("u", "2", "corp"), "n", "its hierarchy has changed since it was validated (now below corp)"},
		"another namespace":                 {hierarchy("u", "1", ""), hierarchy("v", "2", ""), "o", "its hierarchy has changed since it was validated"},
		"another one that had no hierarchy": {nil, nil, "o", "the namespace or its hierarchy has changed since it was validated"},
		"another one with a hierarchy":      {nil, hierarchy("v", "2", ""), "o", "the namespace or its hierarchy has changed since it was validated"},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, _, _ := genericiooptions.NewTestIOStreams()
			f := newMovesFixture()
			var patched []string
			f.PrependReactor("patch", "hierarchies", func(action clienttesting.Action) (bool, runtime.Object, error) {
				patch := action.(clienttesting.PatchActionImpl)
				if len(patch.PatchOptions.DryRun) == 0 {
					patched = append(patched, string(patch.Patch))
				} else if test.shown == nil {
					return true, nil, apierrors.NewNotFound(hnc.Resource("hierarchies"), hnc.Singleton)
				}
				return true, hierarchy("u", "3", "a"), nil
			})
			f.namespace = "n"
			if test.shown != nil {
				f.stored["b"] = test.shown
			}
			m := f.mover(streams)
			pending, _, err := m.validate(t.Context(), threeMoves[:1])
			if err != nil {
				t.Fatal(err)
			}
			f.stored["b"], f.namespace = test.now, test.namespace
			f.writes = nil
			err = m.move(t.Context(), pending, func(*placed) error { return nil })
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) || (len(patched) == 1) != (test.want == "") || len(f.writes) > 0 {
				t.Errorf("got %v, wrote %v", err, patched)
			}
			if len(patched) == 1 && patched[0] != `{"metadata":{"resourceVersion":"2"},"spec":{"parent":"a"}}` {
				t.Errorf("the write does not name the version that was compared: %s", patched[0])
			}
		})
	}
}

// What was not done is not printed as the result.
func TestOutputOfMovesThatFailHalfwayIsWhatIsDone(t *testing.T) {
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	f := newMovesFixture()
	f.failed = "c<b"
	o := &adoptOptions{IOStreams: streams, output: OutputFlag{Format: "json"}}
	m := f.mover(streams)
	pending, _, err := m.validate(t.Context(), threeMoves)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.move(t.Context(), m, pending); err == nil {
		t.Error("no error")
	}
	if text := out.String(); !strings.Contains(text, `"namespace": "b"`) || strings.Contains(text, `"namespace": "c"`) || strings.Contains(text, `"namespace": "d"`) {
		t.Errorf("got %s", text)
	}
}

func TestErrorsNameABoundedNumberOfNamespaces(t *testing.T) {
	all := make([]placed, adoption.MaxNamed+5)
	for i := range all {
		all[i].Namespace = fmt.Sprintf("n%02d", i)
	}
	if err := incomplete(all, 0, errors.New("no")); !strings.Contains(err.Error(), "n19, and 5 more. ") || strings.Contains(err.Error(), "n20") {
		t.Error(err)
	}
}
