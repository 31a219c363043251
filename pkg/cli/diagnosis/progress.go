package diagnosis

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Behind returns the namespaces whose labels do not show their parents yet, except halted ones, which are left alone.
func Behind(namespaces []metav1.PartialObjectMetadata, hierarchies []v1beta1.Hierarchy) []string {
	labels := map[string]map[string]string{}
	for _, ns := range namespaces {
		if ns.DeletionTimestamp == nil {
			labels[ns.Name] = ns.Labels
		}
	}
	var behind []string
	for _, h := range hierarchies {
		has, exists := labels[h.Namespace]
		halted := meta.FindStatusCondition(h.Status.Conditions, hnc.ConditionActivitiesHalted) != nil
		if h.Spec.Parent == "" || !exists || halted || has[hnc.TreeLabel(h.Spec.Parent)] == "1" {
			continue
		}
		behind = append(behind, h.Namespace)
	}
	slices.Sort(behind)
	return behind
}

// Lag reports the namespaces that were behind twice, some seconds apart.
func Lag(first, second []string) Finding {
	const subject = "propagation"
	var both []string
	for _, name := range first {
		if slices.Contains(second, name) {
			both = append(both, name)
		}
	}
	if len(both) == 0 {
		return ok(subject, "the labels of all namespaces show their trees")
	}
	shown := strings.Join(both[:min(5, len(both))], ", ")
	if len(both) > 5 {
		shown += ", ..."
	}
	return Finding{Warning, subject, fmt.Sprintf("%d namespaces do not have the labels of their trees yet: %s", len(both), shown),
		"if they do not get fewer, look at the log of hns-propagator, and at its metric hns_propagation_queue_length"}
}

// Sizes of etcd's database in bytes: of its default quota, and of the largest that it recommends.
const (
	defaultQuota = 2 << 30
	largestQuota = 8 << 30
)

// sizeMetric is kube-apiserver's metric of the size of its etcd.
const sizeMetric = "apiserver_storage_size_bytes"

// EtcdSize reports on the size of the etcd of an API server, according to its metrics in Prometheus' text format.
func EtcdSize(server string, metrics io.Reader) (Finding, error) {
	subject := "etcd of " + server
	lines := bufio.NewScanner(metrics)
	lines.Buffer(nil, 1<<20)
	size, found := 0.0, false
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), sizeMetric+"{") {
			continue
		}
		fields := strings.Fields(lines.Text())
		value, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		if err != nil {
			return Finding{}, fmt.Errorf("metric %s: %w", sizeMetric, err)
		}
		// An etcd for events, for instance, has a line of its own.
		size, found = max(size, value), true
	}
	if err := lines.Err(); err != nil {
		return Finding{}, err
	}
	const hint = "compact and defragment etcd; compare with its --quota-backend-bytes, at which it accepts no writes any more"
	text := fmt.Sprintf("its database has %.0f MiB", size/(1<<20))
	switch {
	case !found:
		return Finding{Unknown, subject, "kube-apiserver does not report its size", ""}, nil
	case size > 0.8*largestQuota:
		return Finding{Error, subject, text + ", which is more than 80% of the 8 GiB that etcd supports", hint}, nil
	case size > 0.8*defaultQuota:
		return Finding{Warning, subject, text + ", which is more than 80% of etcd's default quota of 2 GiB", hint}, nil
	}
	return ok(subject, "%s", text), nil
}
