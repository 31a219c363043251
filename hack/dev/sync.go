package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

const (
	syncOverlay      = "artifacts/dev-sync"
	sampleSync       = "artifacts/sample-sync"
	sampleRepository = "artifacts/sample-repository"
)

// repositories returns the directory that hns-sync may read repositories from.
func repositories(dir string) (string, error) {
	return filepath.Abs(filepath.Join(dir, "repositories"))
}

// syncServer is hns-sync, with the repositories below the cluster's directory.
func syncServer(dir string) (controlplane.Server, error) {
	local, err := repositories(dir)
	return controlplane.Server{Name: hnc.SyncName, Args: []string{"--local-repositories=" + local}}, err
}

// prepareRepository makes a Git repository with the sample in its first commit, unless there is one already. It returns
// its path.
func prepareRepository(ctx context.Context, dir string) (string, error) {
	local, err := repositories(dir)
	if err != nil {
		return "", err
	}
	repository := filepath.Join(local, "policy")
	if _, err := os.Stat(filepath.Join(repository, ".git")); err == nil {
		return repository, nil
	}
	if err := os.MkdirAll(local, 0o750); err != nil {
		return "", err
	}
	if err := os.CopyFS(repository, os.DirFS(sampleRepository)); err != nil {
		return "", err
	}
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"config", "user.name", "dev"}, {"config", "user.email", "dev@example.com"},
		{"add", "--all"},
		{"commit", "--quiet", "--message", "A sample of policy"},
	} {
		git := exec.CommandContext(ctx, "git", args...)
		git.Dir = repository
		if out, err := git.CombinedOutput(); err != nil {
			return "", fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return repository, nil
}

// applySync creates the RepositorySync of the sample, and waits until it is synced.
func applySync(ctx context.Context, cp *controlplane.ControlPlane, dir string) error {
	repository, err := prepareRepository(ctx, dir)
	if err != nil {
		return err
	}
	step("applying the repository %s", repository)
	objects, err := cp.Render(ctx, sampleSync)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if o.GetKind() == "RepositorySync" {
			if err := unstructured.SetNestedField(o.Object, "file://"+repository, "spec", "source", "url"); err != nil {
				return err
			}
		}
	}
	if err := cp.Apply(ctx, objects); err != nil {
		return err
	}
	kubectl := exec.CommandContext(ctx, filepath.Join(binDir, "kubectl"), "--kubeconfig", cp.Kubeconfig(), "wait", "repositorysync/policy",
		"--for=condition=Ready", "--timeout="+(2*time.Minute).String())
	if out, err := kubectl.CombinedOutput(); err != nil {
		return fmt.Errorf("the repository is not applied: %w: %s", err, out)
	}
	fmt.Printf(readySync, repository)
	return nil
}

const readySync = `
hns-sync keeps the cluster as the repository in %[1]s says. Try:

  kubectl hns repo status
  kubectl get resourcequotas -A -l hnc.x-k8s.io/repository-sync=policy
  sed -i s/20/30/ %[1]s/namespaces/tech/quota.yaml
  kubectl hns repo diff --path %[1]s --name policy      # what a commit would change
  git -C %[1]s commit --all --message 'More pods'       # hns-sync applies it
`
