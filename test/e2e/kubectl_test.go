package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"github.com/onsi/gomega/gcustom"
	"github.com/onsi/gomega/types"
)

// kubectlTimeout is longer than any run of kubectl should take.
const kubectlTimeout = goneDeadline + time.Minute

// user runs kubectl under a name of its own.
type user struct{ name, kubeconfig string }

// result is what a run of kubectl has left.
type result struct {
	command, stdout, stderr string
	failed                  bool
}

// GomegaString prints the result in a failure's message.
func (r result) GomegaString() string {
	return fmt.Sprintf("$ %s\n%s%s", r.command, r.stdout, r.stderr)
}

// words returns the words of stdout.
func (r result) words() []string { return strings.Fields(r.stdout) }

// kubectl runs kubectl as the user.
func (u user) kubectl(args ...string) result {
	ginkgo.GinkgoHelper()
	return u.pipe("", args...)
}

// create runs kubectl create on a manifest.
func (u user) create(manifest string, args ...string) result {
	ginkgo.GinkgoHelper()
	return u.pipe(manifest, append([]string{"create", "-f", "-"}, args...)...)
}

// apply runs kubectl apply on a manifest.
func (u user) apply(manifest string, args ...string) result {
	ginkgo.GinkgoHelper()
	return u.pipe(manifest, append([]string{"apply", "-f", "-"}, args...)...)
}

// patch runs kubectl patch with a JSON merge patch.
func (u user) patch(ns, object, patch string, args ...string) result {
	ginkgo.GinkgoHelper()
	return u.kubectl(append([]string{"patch", "-n", ns, object, "--type=merge", "-p", patch}, args...)...)
}

// get returns what a JSON path finds in an object.
func (u user) get(ns, object, path string) string {
	ginkgo.GinkgoHelper()
	r := u.kubectl("get", "-n", ns, object, "-o", "jsonpath="+path)
	gomega.Expect(r).To(succeed())
	return r.stdout
}

// pipe runs kubectl as the user with a standard input. It fails the spec if kubectl can't be run or doesn't end.
func (u user) pipe(stdin string, args ...string) result {
	ginkgo.GinkgoHelper()
	ctx, cancel := context.WithTimeout(context.Background(), kubectlTimeout)
	defer cancel()
	command := u.command(ctx, args...)
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &stdout, &stderr
	start := time.Now()
	err := command.Run()
	var exit *exec.ExitError
	if ctx.Err() != nil || (err != nil && !errors.As(err, &exit)) {
		ginkgo.Fail(fmt.Sprintf("kubectl %s: %v %v\n%s", strings.Join(args, " "), err, ctx.Err(), stderr.String()))
	}
	shown := strings.Join(args, " ")
	if stdin != "" {
		shown += " <<E\n" + stdin[:min(len(stdin), 2000)] + "E"
	}
	ginkgo.GinkgoWriter.Printf("%s as %s: kubectl %s (%s)\n", start.Format(time.TimeOnly), u.name, strings.Join(args, " "), time.Since(start).Round(time.Millisecond))
	return result{command: "kubectl " + shown, stdout: stdout.String(), stderr: stderr.String(), failed: err != nil}
}

// command returns kubectl, ready to run as the user. It neither reads nor writes the home directory.
func (u user) command(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(binDir, "kubectl"), args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+u.kubeconfig, "KUBECACHEDIR="+filepath.Join(cp.Dir(), "kubectl-cache"), "KUBERC=off")
	return command
}

// succeed matches a run that has not failed.
func succeed() types.GomegaMatcher {
	return gcustom.MakeMatcher(func(r result) (bool, error) { return !r.failed, nil }).
		WithTemplate("Expected\n{{.FormattedActual}}\n{{.To}} succeed")
}

// fail matches a run that has failed for whatever reason, and says all the parts.
func fail(parts ...string) types.GomegaMatcher {
	return gcustom.MakeMatcher(func(r result) (bool, error) { return r.failed && containsAll(r.stderr, parts), nil }).
		WithTemplate("Expected\n{{.FormattedActual}}\n{{.To}} fail, with all of\n{{format .Data 1}}", parts)
}

func containsAll(s string, parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(s, part) })
}

// beRefused matches a run that the server has refused for the reason, such as Forbidden, with a message that holds all
// the parts.
func beRefused(reason string, parts ...string) types.GomegaMatcher {
	said := "(" + reason + ")"
	if reason == "Invalid" {
		// kubectl has words of its own for these.
		said = "is invalid"
	}
	return fail(append([]string{said}, parts...)...)
}

// output matches a run that succeeds and whose output matches.
func output(matcher types.GomegaMatcher) types.GomegaMatcher {
	return gomega.And(succeed(), gomega.WithTransform(func(r result) string { return r.stdout }, matcher))
}

// list matches a run that succeeds and prints these words, in any order.
func list(words ...string) types.GomegaMatcher {
	return gomega.And(succeed(), gomega.WithTransform(result.words, gomega.ConsistOf(words)))
}

// atOnce runs the functions at the same time and returns what they return.
func atOnce(runs ...func() result) []result {
	results := make([]result, len(runs))
	start := make(chan struct{})
	var running sync.WaitGroup
	for i, run := range runs {
		running.Go(func() {
			defer ginkgo.GinkgoRecover()
			<-start
			results[i] = run()
		})
	}
	close(start)
	running.Wait()
	return results
}
