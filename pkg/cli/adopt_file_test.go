package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
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
	return &mover{clients: &Clients{Hierarchy: f}, validating: &Clients{Hierarchy: f}, errOut: streams.ErrOut}
}

var threeMoves = []adoption.Move{{Namespace: "b", Parent: "a"}, {Namespace: "c", Parent: "b"}, {Namespace: "d", Parent: "c"}}

func TestMovesAreValidatedBeforeTheFirstIsMade(t *testing.T) {
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	f := newMovesFixture()
	f.failed = "c<b?"
	_, err := f.mover(streams).validate(t.Context(), threeMoves)
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
		pending, err := m.validate(t.Context(), threeMoves)
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

func TestErrorsNameABoundedNumberOfNamespaces(t *testing.T) {
	all := make([]placed, maxNamed+5)
	for i := range all {
		all[i].Namespace = fmt.Sprintf("n%02d", i)
	}
	if err := incomplete(all, 0, errors.New("no")); !strings.Contains(err.Error(), "n19 and 5 more. ") || strings.Contains(err.Error(), "n20") {
		t.Error(err)
	}
}
