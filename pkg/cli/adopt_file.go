package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/adoption"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/treefile"
)

// load reads the file, and returns its moves, parents before their children.
func (o *adoptOptions) load() ([]adoption.Move, error) {
	name, read := o.file, func() ([]byte, error) { return os.ReadFile(o.file) }
	if name == "-" {
		name, read = "standard input", func() ([]byte, error) { return io.ReadAll(o.In) }
	}
	text, err := read()
	if err != nil {
		return nil, err
	}
	moves, err := treefile.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return moves, nil
}

// mover returns what makes the moves.
func (o *adoptOptions) mover() (*mover, error) {
	c, err := o.factory.Clients()
	if err != nil {
		return nil, err
	}
	validating, err := o.factory.quiet().Clients()
	return &mover{
		clients: c, validating: validating, errOut: o.ErrOut, skips: o.file == "", relocates: o.relocate, unsent: o.dryRun.Client(),
	}, err
}

// move makes validated moves. It prints each that is made, even if a later one fails, and returns ErrFound if some are
// left out.
func (o *adoptOptions) move(ctx context.Context, m *mover, pending []placed) error {
	structured := o.output.Format != ""
	err := m.move(ctx, pending, func(p *placed) error {
		if structured {
			return nil
		}
		_, err := fmt.Fprintln(o.Out, moved(p.Namespace, p.Parent))
		return err
	})
	if structured {
		made := slices.DeleteFunc(slices.Clone(pending), func(p placed) bool { return p.outcome == outcomePending || p.outcome == outcomeSkipped })
		if printErr := o.printHierarchies(made); err == nil {
			err = printErr
		}
	} else if err == nil {
		_, err = fmt.Fprintln(o.Out, counts(pending))
	}
	if err == nil && slices.ContainsFunc(pending, func(p placed) bool { return p.outcome == outcomeSkipped }) {
		return ErrFound
	}
	return err
}

// printMoves prints what would be sent.
func (o *adoptOptions) printMoves(moves []adoption.Move) error {
	var all []placed
	var messages []string
	for _, move := range moves {
		all = append(all, placed{Move: move, hierarchy: hierarchyWithParent(move.Namespace, move.Parent)})
		messages = append(messages, moved(move.Namespace, move.Parent)+o.dryRun.Suffix())
	}
	if o.output.Format != "" {
		return o.printHierarchies(all)
	}
	_, err := fmt.Fprint(o.Out, lines(messages))
	return err
}

// printValidated prints what would be moved.
func (o *adoptOptions) printValidated(all []placed) error {
	if o.output.Format != "" {
		return o.printHierarchies(all)
	}
	suffix := " (server dry run)"
	if o.dryRun.Client() {
		suffix = o.dryRun.Suffix()
	}
	var messages []string
	for _, p := range all {
		if p.outcome == outcomePending {
			messages = append(messages, moved(p.Namespace, p.Parent)+nowBelow(p.before)+suffix)
		}
	}
	_, err := fmt.Fprint(o.Out, lines(append(messages, counts(all)+suffix)))
	return err
}

// printHierarchies prints the hierarchies as a list that kubectl apply reads.
func (o *adoptOptions) printHierarchies(all []placed) error {
	list := &corev1.List{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "List"}, Items: []runtime.RawExtension{}}
	for _, p := range all {
		h := p.hierarchy.DeepCopy()
		h.APIVersion, h.Kind = v1beta1.SchemeGroupVersion.String(), "Hierarchy"
		h.ManagedFields = nil
		list.Items = append(list.Items, runtime.RawExtension{Object: h})
	}
	_, err := o.output.Print(o.Out, list, nil)
	return err
}

// counts says how many namespaces are moved, or would be.
func counts(all []placed) string {
	number := map[outcome]int{}
	for _, p := range all {
		number[p.outcome]++
	}
	return fmt.Sprintf("namespaces moved: %d, unchanged: %d", number[outcomePending]+number[outcomeMoved], number[outcomeUnchanged])
}

// moved says that a namespace has got a parent.
func moved(namespace, parent string) string {
	if parent == "" {
		return fmt.Sprintf("namespace/%s moved to a tree of its own", namespace)
	}
	return fmt.Sprintf("namespace/%s moved below %s", namespace, parent)
}

// nowBelow names the present parent, if there is one.
func nowBelow(parent string) string {
	if parent == "" {
		return ""
	}
	return " (now below " + parent + ")"
}

func hierarchyWithParent(namespace, parent string) *v1beta1.Hierarchy {
	return &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton, Namespace: namespace}, Spec: v1beta1.HierarchySpec{Parent: parent}}
}
