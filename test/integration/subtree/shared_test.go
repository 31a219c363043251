package subtree

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// upstreams returns how many watches of all ConfigMaps kube-apiserver serves.
func upstreams(t *testing.T) int {
	t.Helper()
	samples, err := cp.Metrics(t.Context(), "kube-apiserver")
	must(t, "metrics", err)
	sum := 0
	for name, value := range samples {
		if strings.HasPrefix(name, "apiserver_longrunning_requests{") && strings.Contains(name, `resource="configmaps"`) &&
			strings.Contains(name, `scope="cluster"`) && strings.Contains(name, `group=""`) {
			sum += int(value)
		}
	}
	return sum
}

// steadyUpstreams returns their number when those of earlier tests have ended.
func steadyUpstreams(t *testing.T) int {
	t.Helper()
	return suite.Steady(t, "the number of upstreams", 2*time.Second, func(a, b int) bool { return a == b }, func() int { return upstreams(t) })
}

// usage returns the memory and the processor time that hns-apiserver takes.
func usage(t *testing.T) (mebibytes int, processor time.Duration) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	must(t, "processes", err)
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(raw))
		if fields[1] != "(hns-apiserver)" || fields[3] != strconv.Itoa(os.Getpid()) {
			continue
		}
		user, _ := strconv.Atoi(fields[13])
		system, _ := strconv.Atoi(fields[14])
		pages, _ := strconv.Atoi(fields[23])
		return pages * os.Getpagesize() >> 20, time.Duration(user+system) * 10 * time.Millisecond
	}
	t.Fatal("there is no hns-apiserver")
	return 0, 0
}

// seats returns how many seats of priority and fairness requests have in hns-apiserver.
func seats(t *testing.T) int {
	t.Helper()
	samples, err := cp.Metrics(t.Context(), "hns-apiserver")
	must(t, "metrics", err)
	sum := 0
	for name, value := range samples {
		if strings.HasPrefix(name, "apiserver_flowcontrol_current_executing_seats{") && !strings.Contains(name, `priority_level="exempt"`) {
			sum += int(value)
		}
	}
	return sum
}

// TestTwoHundredWatchesShareOneUpstream also logs how long events take.
func TestTwoHundredWatchesShareOneUpstream(t *testing.T) {
	const each = 100 // the most that one user may have
	root, mid, leaf := tree(t, "shared")
	namespace(t, "shared-other", "")
	for _, ns := range []string{root, mid, leaf} {
		configMap(t, ns, "a")
	}
	// Each sees a part of the subtree.
	for _, home := range []string{"shared-anns", "shared-bens", "shared-elses"} {
		namespace(t, home, "")
	}
	ann, ben := personOf(t, "shared-anns", "shared-ann"), personOf(t, "shared-bens", "shared-ben")
	ann.grant(t, root, ask, "list watch configmaps")
	ben.grant(t, root, ask)
	ben.grant(t, leaf, "list watch configmaps")
	suite.EventuallyEqual(t, "ann", "shared-root/a", func() string { return ann.listed(t, "configmaps", root, metav1.ListOptions{LabelSelector: "test"}) })
	suite.EventuallyEqual(t, "ben", "shared-leaf/a", func() string { return ben.listed(t, "configmaps", root, metav1.ListOptions{LabelSelector: "test"}) })
	before := steadyUpstreams(t)
	memory, _ := usage(t)
	var observers []*observer
	t.Run("watches", func(t *testing.T) {
		for range each {
			observers = append(observers, ann.follow(t, "configmaps", root, marked), ben.follow(t, "configmaps", root, marked))
		}
		all := func(want map[string]int) func() string {
			return func() string {
				got := map[string]int{}
				for _, p := range observers {
					got[p.String()]++
				}
				if fmt.Sprint(got) == fmt.Sprint(want) {
					return ""
				}
				return fmt.Sprint(got)
			}
		}
		suite.EventuallyEqual(t, "all watches", "", all(map[string]int{"shared-root/a": each, "shared-leaf/a": each}))
		suite.EventuallyEqual(t, "open watches of all ConfigMaps, one more than before", strconv.Itoa(before+1), func() string { return strconv.Itoa(upstreams(t)) })
		w, err := ann.HNC.HncV1alpha3().MyNamespaces().Watch(t.Context(), metav1.ListOptions{})
		must(t, "watch of mynamespaces", err)
		defer w.Stop()
		everywhere, err := admin.Dynamic.Resource(ours("configmaps")).Watch(t.Context(), metav1.ListOptions{})
		must(t, "watch of the cluster", err)
		defer everywhere.Stop()
		suite.EventuallyEqual(t, "seats of hns-apiserver", "0", func() string { return strconv.Itoa(seats(t)) })
		full, began := usage(t)
		const others = 50
		for i := range others {
			configMap(t, "shared-other", fmt.Sprint("c", i))
		}
		configMap(t, root, "b")
		configMap(t, leaf, "b")
		suite.EventuallyEqual(t, "all watches", "", all(map[string]int{"shared-root/a shared-root/b": each, "shared-leaf/a shared-leaf/b": each}))
		_, busy := usage(t)
		t.Logf("%d watches: %d upstream, %d MiB more than %d MiB; %v of processor time for %d events, of which each shows one",
			2*each, upstreams(t)-before, full-memory, memory, busy-began, others+2)

		// One more is refused, also to another ServiceAccount of the namespace, and another user is not.
		sibling := personOf(t, "shared-anns", "shared-sibling")
		sibling.grant(t, root, ask, "list watch configmaps")
		suite.EventuallyEqual(t, "sibling", "shared-root/a shared-root/b", func() string { return sibling.listed(t, "configmaps", root, marked) })
		config := rest.CopyConfig(sibling.Config)
		client, err := rest.HTTPClientFor(config)
		must(t, "client", err)
		response, err := client.Get(config.Host + prefix + "/namespaces/" + root + "/configmaps?watch=true&timeoutSeconds=5")
		must(t, "one watch more", err)
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		must(t, "one watch more", err)
		if response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Retry-After") == "" || !strings.Contains(string(body), "already has 100 watches across subtrees") {
			t.Errorf("one watch more: %d %s", response.StatusCode, body)
		}
		somebody := personOf(t, "shared-elses", "shared-else")
		somebody.grant(t, root, ask, "list watch configmaps")
		suite.EventuallyEqual(t, "somebody", "shared-root/a shared-root/b", func() string { return somebody.listed(t, "configmaps", root, marked) })
		suite.EventuallyEqual(t, "somebody else", "shared-root/a shared-root/b", somebody.follow(t, "configmaps", root, marked).String)
	})
	// With the last watch the upstream ends.
	suite.EventuallyEqual(t, "watches of all ConfigMaps", strconv.Itoa(before), func() string { return strconv.Itoa(upstreams(t)) })
}

// A table that joins a shared watch has columns too.
func TestATableThatJoinsAWatchNamesItsColumns(t *testing.T) {
	root, _, _ := tree(t, "columns")
	configMap(t, root, "a")
	reader := person(t, "columns")
	reader.grant(t, root, ask, "list watch configmaps")
	suite.EventuallyEqual(t, "list", "columns-root/a", func() string { return reader.listed(t, "configmaps", root, marked) })
	list, err := reader.Dynamic.Resource(ours("configmaps")).Namespace(root).List(t.Context(), marked)
	must(t, "list", err)
	client, err := rest.HTTPClientFor(reader.Config)
	must(t, "client", err)
	open := func() io.ReadCloser {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, reader.Config.Host+prefix+"/namespaces/"+root+
			"/configmaps?watch=true&labelSelector=test&resourceVersion="+list.GetResourceVersion(), nil)
		must(t, "request", err)
		request.Header.Set("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
		response, err := client.Do(request)
		must(t, "watch", err)
		t.Cleanup(func() { _ = response.Body.Close() })
		return response.Body
	}
	first := open()
	configMap(t, root, "b")
	line := func(body io.ReadCloser) string {
		text, err := bufio.NewReader(body).ReadString('\n')
		must(t, "event", err)
		return text
	}
	for _, body := range []io.ReadCloser{first, open()} {
		if got := line(body); !strings.Contains(got, `"columnDefinitions":[`) || !strings.Contains(got, `"name":"b"`) {
			t.Errorf("no columns, or not the object: %s", got)
		}
	}
}
