package reposync

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/cluster"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// An author's names and texts of any length leave the status small enough to be stored.
func TestLongErrorsAreShortened(t *testing.T) {
	long := strings.Repeat("k", 1<<20)
	found := report.Errors{}
	for range 2 * maxReported {
		found = append(found, &report.Error{Code: report.UnreadableFile, Message: long, Paths: []string{long}})
	}
	o := &outcome{}
	for range 2 * maxReported {
		o.add(plan.ID{Kind: schema.GroupKind{Group: long, Kind: long}, Namespace: long, Name: long}, long, errors.New(long))
	}
	text, err := json.Marshal(v1alpha3.RepositorySyncStatus{Errors: errorsOf(found), Failures: o.failed})
	if err != nil || len(text) > 128<<10 {
		t.Errorf("the status has %d bytes: %v", len(text), err)
	}
}

// TestLongErrorsOfPreparationAreShortened has a cluster whose kinds cannot be read, at a long address.
func TestLongErrorsOfPreparationAreShortened(t *testing.T) {
	config := &rest.Config{Host: "http://127.0.0.1:1/" + strings.Repeat("k", 1<<20)}
	c, err := cluster.New(config, config, "policy", func() {})
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{manager: &Manager{now: time.Now}, cluster: c, source: &source{}, current: &revision{}}
	if done := w.synchronize(t.Context(), false); done.reason != hnc.ReasonApplyFailed || len(done.message) > 2048 {
		t.Errorf("%s: the message has %d bytes", done.reason, len(done.message))
	}
}
