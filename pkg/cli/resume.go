package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/diagnosis"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// trusted are the values of --trust.
var trusted = []string{hnc.TrustHierarchies, hnc.TrustNamespaces}

type resumeOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	trust  string
	yes    bool
	dryRun DryRunFlag
}

func newResumeCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &resumeOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "resume --trust=(" + strings.Join(trusted, "|") + ")",
		Short: "End the pause of the propagation after a restore",
		Long: `End the pause of the propagation after a restore.

After a restore, or an installation without the earlier hierarchies, the hierarchies and the tree labels of the
namespaces may contradict each other. Say which are correct: the others are overwritten, and objects are added, changed
and deleted accordingly. kubectl hns doctor lists what would be written in either case. Before --trust=namespaces is
confirmed, all parents that change are listed: labels may come from a backup that others could write.`,
		Example: `  kubectl hns doctor
  kubectl hns resume --trust=namespaces`,
		Args: ExactArgs(0, "none"),
		RunE: RunOptions(o),
	}
	cmd.Flags().StringVar(&o.trust, "trust", "", "What is correct where both differ: hierarchies, or namespaces, which means their tree labels")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Do not ask")
	o.dryRun.AddFlag(cmd.Flags())
	CompleteFlag(cmd, "trust", func(*cobra.Command, string) []string { return trusted })
	return cmd
}

func (*resumeOptions) Complete(*cobra.Command, []string) error { return nil }

func (o *resumeOptions) Validate() error {
	if !slices.Contains(trusted, o.trust) {
		return UsageErrorf("--trust=%s is not one of %s", o.trust, strings.Join(trusted, ", "))
	}
	return nil
}

func (o *resumeOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	configuration, err := c.Hierarchy.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if diagnosis.Paused(configuration) == nil {
		return errors.New("the propagation is not paused; kubectl hns doctor says what else prevents it")
	}
	if o.trust == hnc.TrustNamespaces && !o.yes {
		if err := o.printParents(ctx, c); err != nil {
			return err
		}
	}
	if !o.yes && !o.dryRun.Enabled() {
		question := fmt.Sprintf("The %s overwrite what differs, and objects are deleted accordingly. Continue? (yes/no) ", o.trust)
		if err := Confirm(ctx, o.IOStreams, question, errNotConfirmed); err != nil {
			return err
		}
	}
	if !o.dryRun.Client() {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{hnc.AnnotationTrust: configuration.TrustDecision(o.trust)}}})
		if err != nil {
			return err
		}
		options := metav1.PatchOptions{DryRun: o.dryRun.options()}
		if _, err := c.Kube.CoreV1().Namespaces().Patch(ctx, hnc.SystemNamespace, types.MergePatchType, patch, options); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(o.Out, "The propagation resumes; %s overwrite what differs%s\n", o.trust, o.dryRun.Suffix())
	return err
}

// printParents lists the parents that namespaces have by their labels where their hierarchies say otherwise. A namespace
// whose parent is missing has no labels of it, and keeps its hierarchy. The labels of an external one name no parent.
func (o *resumeOptions) printParents(ctx context.Context, c *Clients) error {
	namespaces, hierarchies, err := listForest(ctx, c)
	if err != nil {
		return err
	}
	stored, exists := map[string]string{}, sets.New[string]()
	for i := range hierarchies {
		stored[hierarchies[i].Namespace] = hierarchies[i].Spec.Parent
	}
	for i := range namespaces {
		exists.Insert(namespaces[i].Name)
	}
	for i := range namespaces {
		n := &namespaces[i]
		labeled, parent := hnc.LabeledParent(n.Name, n.Labels, hnc.AbstractAncestors(n.Annotations)), stored[n.Name]
		if managedkeys.External(n.Annotations) {
			labeled = ""
		}
		if labeled == parent || labeled == "" && !exists.Has(parent) || n.DeletionTimestamp != nil {
			continue
		}
		_, _ = fmt.Fprintf(o.ErrOut, "namespace %s: %s by its labels, %s by its hierarchy\n", n.Name, parentOrNone(labeled), parentOrNone(parent))
	}
	return nil
}

func parentOrNone(parent string) string {
	if parent == "" {
		return "no parent"
	}
	return "parent " + parent
}
