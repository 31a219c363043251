package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// kubectl has 40 namespaces with the finalizer, one without, in whose annotation it is, and one definition of a view that is
// being deleted. Patches record themselves, and how many run at the same time.
const kubectl = `#!/usr/bin/env bash
case "$*" in
"get --raw /api/v1/namespaces")
  printf '{"kind":"NamespaceList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":['
  for i in {1..40}; do printf '{"metadata":{"name":"team-%d","uid":"u","finalizers":["hnc.x-k8s.io/subnamespaces"]},"spec":{}},' "$i"; done
  printf '%s\n' '{"metadata":{"name":"other","annotations":{"a":"{\"metadata\":{\"name\":\"forged\":[\"hnc.x-k8s.io/subnamespaces\""}},"spec":{}}]}' ;;
"get viewdefinitions"*) printf '%s\n' 'a things.b 2026-01-01T00:00:00Z ["hnc.x-k8s.io/view-definition"]' 'a kept.b  ["hnc.x-k8s.io/view-definition"]' ;;
patch*)
  mkdir "$DIR/running.$$"
  set -- "$@" "$(find "$DIR" -name 'running.*' | wc -l)"
  sleep 0.1
  rmdir "$DIR/running.$$"
  echo "$*" >>"$DIR/patches" ;;
esac
`

// A tenant may have ten thousand sub-namespaces, and each patch starts a process.
func TestFinalizersAreRemovedInParallel(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(kubectl), 0o700); err != nil {
		t.Fatal(err)
	}
	script := exec.CommandContext(t.Context(), "bash", "../../../artifacts/emergency.sh", "release")
	script.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "DIR="+dir)
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "patches"))
	if err != nil {
		t.Fatal(err)
	}
	patches := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if len(patches) != 41 || strings.Contains(string(raw), "other") || strings.Contains(string(raw), "kept.b") ||
		!strings.Contains(string(raw), `patch namespace team-40 -p {"metadata":{"$deleteFromPrimitiveList/finalizers":["hnc.x-k8s.io/subnamespaces"]}}`) ||
		!strings.Contains(string(raw), `patch viewdefinitions.hnc.x-k8s.io things.b -n a --type=merge -p {"metadata":{"finalizers":null}}`) {
		t.Errorf("%d patches:\n%s", len(patches), raw)
	}
	parallel := 0
	for _, patch := range patches {
		if !strings.HasSuffix(patch, " 1") {
			parallel++
		}
	}
	if parallel == 0 {
		t.Error("one patch runs at a time")
	}
}
