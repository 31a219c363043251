package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// checked matches a check of a permission on one of our resources in the expression of a policy.
var checked = regexp.MustCompile(`group\('hnc\.x-k8s\.io'\)\.resource\('(\w+)'\)[^&|]*?\.check\('(\w+)'\)`)

// Only the verbs that policies check are not taken from the list of permissions by the code itself.
func TestVerbsThatPoliciesCheckAreListed(t *testing.T) {
	files, err := filepath.Glob("../../pkg/admissionpolicy/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	own := []string{"create", "delete", "get", "list", "patch", "update", "watch"}
	found := map[[2]string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range checked.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(own, match[2]) {
				found[[2]string{match[1], match[2]}] = true
			}
		}
	}
	listed := map[[2]string]bool{}
	for _, permission := range hnc.Permissions() {
		if permission.Subresource == "" {
			listed[[2]string{permission.Resource, permission.Verbs[0]}] = true
		}
	}
	for check := range found {
		if !listed[check] {
			t.Errorf("a policy checks the verb %s on %s, which hnc.Permissions does not have", check[1], check[0])
		}
	}
	for check := range listed {
		if !found[check] {
			t.Errorf("no policy checks the verb %s on %s", check[1], check[0])
		}
	}
}
