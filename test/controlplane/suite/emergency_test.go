package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// kubectl has two pages with 20 namespaces each that have the finalizer, one namespace without, in whose annotations it and a token are, and one
// definition of a view that is being deleted. Patches record themselves, and how many run at the same time.
const kubectl = `#!/usr/bin/env bash
case "$*" in
"get --raw /api/v1/namespaces?limit=100&continue=")
  printf '{"kind":"NamespaceList","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":"n-xt_","remainingItemCount":21},"items":['
  for i in {1..20}; do printf '{"metadata":{"name":"team-%d","uid":"u","finalizers":["hnc.x-k8s.io/subnamespaces"]},"spec":{}},' "$i"; done
  printf '%s\n' '{"metadata":{"name":"other","annotations":{"a":"{\"metadata\":{\"name\":\"forged\":[\"hnc.x-k8s.io/subnamespaces\"","continue":"x"}},"spec":{}}]}' ;;
"get --raw /api/v1/namespaces?limit=100&continue=n-xt_")
  [[ -z $FAIL ]] || exit 1
  printf '{"kind":"NamespaceList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":['
  for i in {21..40}; do printf '{"metadata":{"name":"team-%d","uid":"u","finalizers":["hnc.x-k8s.io/subnamespaces"]},"spec":{}},' "$i"; done
  printf ']}\n' ;;
"get viewdefinitions"*) printf '%s\n' 'a things.b 2026-01-01T00:00:00Z ["hnc.x-k8s.io/view-definition"]' 'a kept.b  ["hnc.x-k8s.io/view-definition"]' ;;
patch*)
  mkdir "$DIR/running.$$"
  set -- "$@" "$(cat)" "$(find "$DIR" -name 'running.*' | wc -l)"
  sleep 0.1
  rmdir "$DIR/running.$$"
  echo "$*" >>"$DIR/patches" ;;
esac
`

// emergency runs the script with kubectl from above and an environment.
func emergency(t *testing.T, env string) (dir string, err error) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(kubectl), 0o700); err != nil {
		t.Fatal(err)
	}
	script := exec.CommandContext(t.Context(), "bash", "../../../artifacts/emergency.sh", "release")
	script.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "DIR="+dir, env)
	out, err := script.CombinedOutput()
	t.Logf("%s", out)
	return dir, err
}

func TestAnIncompleteListOfNamespacesIsNoSuccess(t *testing.T) {
	if _, err := emergency(t, "FAIL=yes"); err == nil {
		t.Error("the script succeeds")
	}
}

// A tenant may have ten thousand sub-namespaces, and each patch starts a process.
func TestFinalizersAreRemovedInParallel(t *testing.T) {
	dir, err := emergency(t, "FAIL=")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "patches"))
	if err != nil {
		t.Fatal(err)
	}
	patches := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if len(patches) != 41 || strings.Contains(string(raw), "other") || strings.Contains(string(raw), "kept.b") ||
		!strings.Contains(string(raw), `patch -f - -p {"metadata":{"managedFields":[{}],"$deleteFromPrimitiveList/finalizers":["hnc.x-k8s.io/subnamespaces"]}} {"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team-40"}}`) ||
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
