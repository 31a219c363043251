package cli

import (
	"context"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/diagnosis"
)

// lost reports whether the hierarchies that were propagated last are in another store than the present one, and so have
// to be rebuilt.
func lost(ctx context.Context, o *doctorOptions, configuration *v1beta1.HNCConfiguration) bool {
	system, err := o.clients.Kube.CoreV1().Namespaces().Get(ctx, hnc.SystemNamespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || o.failed("namespace "+hnc.SystemNamespace, err) {
		return false
	}
	known := system.Annotations[hnc.AnnotationStore]
	if known == "" || known == string(configuration.UID) {
		return false
	}
	o.add(diagnosis.Finding{Severity: diagnosis.Error, Subject: "hierarchies", Text: "they are not in the store that was propagated last, and have to be rebuilt from the labels of the namespaces",
		Hint: "read the differences below; hns-propagator rebuilds them, and pauses if anything differs"})
	return true
}

// checkDifferences lists what the propagator would write after each decision, by its own dry runs. The plugin that
// contains a propagator makes them.
func (o *doctorOptions) checkDifferences(ctx context.Context) {
	found, errs := make([][]string, len(trusted)), make([]error, len(trusted))
	var running sync.WaitGroup
	for i, trust := range trusted {
		running.Go(func() {
			found[i], errs[i] = pluginLines(ctx, "migrate", append(slices.Clone(o.globalFlags), "differences", trust)...)
		})
	}
	running.Wait()
	for i, trust := range trusted {
		subject := "differences with resume --trust=" + trust
		if errs[i] != nil {
			o.add(diagnosis.Finding{Severity: diagnosis.Error, Subject: subject, Text: errs[i].Error(), Hint: "this requires permission to impersonate " + hnc.PropagatorUser})
			continue
		}
		if len(found[i]) == 0 {
			o.add(diagnosis.Finding{Subject: subject, Text: "none"})
		}
		for _, line := range found[i] {
			o.add(diagnosis.Finding{Severity: diagnosis.Warning, Subject: subject, Text: line})
		}
	}
}
