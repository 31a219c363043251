// Package clustertest has clusters that a test server replaces.
package clustertest

import (
	"testing"

	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/cluster"
)

// New returns the cluster that a server at a URL answers for, refreshed, and how clients reach it.
func New(t *testing.T, url string) (*rest.Config, *cluster.Cluster) {
	t.Helper()
	config := &rest.Config{Host: url}
	c, err := cluster.New(config, config, "policy", func() {})
	if err == nil {
		err = c.Refresh(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return config, c
}
