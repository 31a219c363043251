package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// columns are what is sampled: times in seconds, memory and etcd's database in megabytes, latencies in milliseconds.
var columns = []string{
	"seconds", "apiserver-goroutines", "propagator-goroutines", "apiserver-memory", "propagator-memory", "apiserver-heap", "propagator-heap",
	"watches-out", "watches-in", "queue", "etcd-file", "etcd-used", "operations", "latency", "watchers", "slow-watchers",
}

type sample map[string]float64

// sampler records what our servers use.
type sampler struct {
	c     *cluster
	users []*churner
	// direct talks to our servers, etcd to their etcd.
	direct, etcd *http.Client
	begin        time.Time
	rows         []sample
	// reading is the number of watches that are read, slow of those that nobody reads.
	reading, slow atomic.Int64
}

func newSampler(t *testing.T, c *cluster, users []*churner) *sampler {
	t.Helper()
	s := &sampler{c: c, users: users, begin: time.Now()}
	var err error
	if s.direct, err = rest.HTTPClientFor(c.cp.RESTConfig()); err != nil {
		t.Fatal(err)
	}
	s.direct.Timeout = sampling
	tls, err := c.store.TLS()
	if err != nil {
		t.Fatal(err)
	}
	s.etcd = &http.Client{Transport: &http.Transport{TLSClientConfig: tls}, Timeout: sampling}
	return s
}

// metrics sums up the samples of a server by metric, regardless of labels.
func metrics(ctx context.Context, client *http.Client, url string) (sample, error) {
	samples, err := controlplane.Metrics(ctx, client, url)
	all := sample{}
	for name, value := range samples {
		name, _, _ = strings.Cut(name, "{")
		all[name] += value
	}
	return all, err
}

func (s *sampler) take(ctx context.Context) (sample, error) {
	row := sample{"seconds": time.Since(s.begin).Seconds()}
	for name, process := range map[string]string{"apiserver": "hns-apiserver", "propagator": "hns-propagator"} {
		port, err := s.c.cp.Port(process)
		if err != nil {
			return nil, err
		}
		m, err := metrics(ctx, s.direct, fmt.Sprintf("https://127.0.0.1:%d/metrics", port))
		if err != nil {
			return nil, err
		}
		row[name+"-goroutines"] = m["go_goroutines"]
		row[name+"-memory"] = m["process_resident_memory_bytes"] / 1e6
		row[name+"-heap"] = m["go_memstats_heap_inuse_bytes"] / 1e6
		row["queue"] += m["hns_propagation_queue_length"] + m["workqueue_depth"]
	}
	m, err := metrics(ctx, s.etcd, s.c.store.Endpoints[0]+"/metrics")
	if err != nil {
		return nil, err
	}
	row["etcd-file"], row["etcd-used"] = m["etcd_mvcc_db_total_size_in_bytes"]/1e6, m["etcd_mvcc_db_total_size_in_use_in_bytes"]/1e6
	row["watches-out"], row["watches-in"] = float64(s.c.out.Watches()), float64(s.c.in.Watches())
	n, median := latencies(s.users)
	row["operations"], row["latency"] = float64(n), median
	row["watchers"], row["slow-watchers"] = float64(s.reading.Load()), float64(s.slow.Load())
	return row, nil
}

// dump writes the goroutines and the metrics of hns-propagator to the folder of the logs.
func (s *sampler) dump(t *testing.T) {
	t.Helper()
	port, err := s.c.cp.Port("hns-propagator")
	if err != nil {
		t.Error(err)
		return
	}
	for name, path := range map[string]string{"goroutines.txt": "/debug/pprof/goroutine?debug=2", "metrics.txt": "/metrics"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d%s", port, path), nil)
		if err != nil {
			t.Error(err)
			return
		}
		response, err := s.direct.Do(request)
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(response.Body)
		if err = errors.Join(err, response.Body.Close(), os.WriteFile(filepath.Join(s.c.cp.Dir(), name), body, 0o600)); err != nil {
			t.Error(err)
		}
	}
}

// run samples until ctx ends. A sample that fails, such as that of a server that does not run, is left out.
func (s *sampler) run(ctx context.Context) {
	ticks := time.NewTicker(sampling)
	defer ticks.Stop()
	for {
		if row, err := s.take(ctx); err == nil {
			s.rows = append(s.rows, row)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// quiet returns a sample after the queues are empty and as many watches are open as before: reflectors wait up to a
// minute between tries. Before a short soak, the controllers of the control plane may not watch everything yet.
func (s *sampler) quiet(t *testing.T, when string, before sample) sample {
	t.Helper()
	strict := before != nil && *soak >= strictFrom
	var row sample
	if err := poll(t.Context(), func() (err error) {
		if row, err = s.take(t.Context()); err != nil {
			return err
		}
		if row["queue"] > 0 || row["watches-in"] < before["watches-in"] || row["watches-out"] < before["watches-out"] ||
			strict && (row["watches-in"] > ofWatches.most(before["watches-in"]) || row["watches-out"] > ofWatches.most(before["watches-out"])) {
			return fmt.Errorf("%.0f things in queues, %.0f and %.0f watches, before %.0f and %.0f",
				row["queue"], row["watches-in"], row["watches-out"], before["watches-in"], before["watches-out"])
		}
		return nil
	}); err != nil {
		t.Errorf("%s: %v", when, err)
	}
	s.rows = append(s.rows, row)
	t.Logf("%s: %v", when, row)
	return row
}

// watchAlternately has watchers that read nothing for a minute, watchers that read for another, and none for a third,
// again and again until ctx ends.
func (s *sampler) watchAlternately(ctx context.Context) {
	reading, err := rest.HTTPClientFor(s.c.admin.Config)
	if err != nil {
		return
	}
	slow, err := suite.SlowClient(s.c.admin.Config)
	if err != nil {
		return
	}
	for ctx.Err() == nil {
		s.watchForAMinute(ctx, slow, &s.slow, func(ctx context.Context, _ io.Reader) { <-ctx.Done() })
		s.watchForAMinute(ctx, reading, &s.reading, func(_ context.Context, body io.Reader) {
			_, _ = io.Copy(io.Discard, body)
		})
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
		}
	}
}

// watchForAMinute has watchers for a minute.
func (s *sampler) watchForAMinute(ctx context.Context, client *http.Client, open *atomic.Int64, read func(context.Context, io.Reader)) {
	minute, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var watching sync.WaitGroup
	for range watchers {
		watching.Go(func() {
			for minute.Err() == nil {
				if err := s.watch(minute, client, open, read); err != nil && minute.Err() == nil {
					time.Sleep(interval)
				}
			}
		})
	}
	watching.Wait()
}

// watch opens a watch of all hierarchies, until read returns.
func (s *sampler) watch(ctx context.Context, client *http.Client, open *atomic.Int64, read func(context.Context, io.Reader)) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.c.admin.Config.Host+"/apis/hnc.x-k8s.io/v1beta1/hierarchies?watch=true", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	open.Add(1)
	defer open.Add(-1)
	read(ctx, response.Body)
	return nil
}
