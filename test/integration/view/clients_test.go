package view

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// An informer over all namespaces lists and watches those of the view, and those that are created later.
func TestInformersFollowAView(t *testing.T) {
	tn := newTenant(t, "follow")
	configMap(t, tn.view, tn.root, "before")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	factory := informers.NewSharedInformerFactoryWithOptions(tn.view, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "test" }))
	lister := factory.Core().V1().ConfigMaps().Lister()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	_, err := tn.view.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "follow-a"}}, metav1.CreateOptions{})
	must(t, "namespace", err)
	configMap(t, tn.view, "follow-a", "after")
	suite.EventuallyEqual(t, "what the informer has", "[follow-a/after follow/before]", func() string {
		var names []string
		all, err := lister.List(labels.Everything())
		must(t, "list", err)
		for _, cm := range all {
			names = append(names, cm.Namespace+"/"+cm.Name)
		}
		slices.Sort(names)
		return fmt.Sprint(names)
	})
}

// A request for a namespace of the view has the same answer as without the view, byte for byte.
func TestAViewChangesNoAnswer(t *testing.T) {
	tn := newTenant(t, "same")
	child(t, "same-a", tn.root)
	configMap(t, tn.view, "same-a", "one")
	without := *tn
	without.view = tn.direct
	for _, request := range [][]string{
		{http.MethodGet, "/api/v1/namespaces/same-a/configmaps/one", ""},
		{http.MethodGet, "/api/v1/namespaces/same-a/configmaps?limit=1", ""},
		{http.MethodGet, "/api/v1/namespaces/same-a/configmaps/one", "", "Accept", "application/vnd.kubernetes.protobuf"},
		{http.MethodGet, "/api/v1/namespaces/same-a/configmaps", "", "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"},
		{http.MethodGet, "/api/v1/namespaces/same-a/configmaps", "", "Accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"},
		{http.MethodGet, "/api/v1/namespaces/same-a/configmaps/missing", ""},
		{http.MethodGet, "/api/v1/namespaces/same-a/pods/missing/log", ""},
		{http.MethodGet, "/api/v1/namespaces/same-a/nothing", ""},
		{http.MethodGet, "/api/v1/namespaces/same-a", ""},
		{http.MethodPost, "/api/v1/namespaces/same-a/configmaps?dryRun=All&fieldValidation=Strict", `{"metadata":{"name":"x"},"daat":{}}`, "Content-Type", "application/json"},
		{http.MethodPost, "/api/v1/namespaces/same-a/configmaps?dryRun=All", `{"metadata":{"name":"x","namespace":"same"}}`, "Content-Type", "application/json"},
		{http.MethodPatch, "/api/v1/namespaces/same-a/configmaps/one?dryRun=All&fieldManager=t", `{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"b"}}`, "Content-Type", "application/apply-patch+yaml"},
		{http.MethodPatch, "/api/v1/namespaces/same-a/configmaps/one", `[{"op":"test","path":"/data","value":1}]`, "Content-Type", "application/json-patch+json"},
		{http.MethodGet, "/version", ""},
		{http.MethodGet, "/readyz?verbose", ""},
	} {
		code, got := tn.raw(t, request[0], request[1], request[2], request[3:]...)
		wantCode, want := without.raw(t, request[0], request[1], request[2], request[3:]...)
		// The time at which a dry run has changed the managed fields, and ages in tables.
		at := regexp.MustCompile(`"(time|uid|creationTimestamp)":"[^"]*"|"[0-9]+s"`)
		if got, want = at.ReplaceAllString(got, ""), at.ReplaceAllString(want, ""); code != wantCode || got != want {
			t.Errorf("%s %s: got %d %s\nwant %d %s", request[0], request[1], code, got, wantCode, want)
		}
	}
}

func TestReviewsAnswerForTheView(t *testing.T) {
	tn := newTenant(t, "reviews")
	child(t, "reviews-a", tn.root)
	suite.Eventually(t, "permissions", func() error {
		_, err := tn.view.CoreV1().Pods("reviews-a").List(t.Context(), metav1.ListOptions{})
		return err
	})
	for question, want := range map[authorizationv1.ResourceAttributes]bool{
		{Verb: "list", Resource: "pods"}:                                                                true,
		{Verb: "create", Group: "apps", Resource: "deployments"}:                                        true,
		{Verb: "list", Resource: "pods", Namespace: "reviews-a"}:                                        true,
		{Verb: "list", Resource: "pods", Namespace: people}:                                             false,
		{Verb: "create", Resource: "namespaces"}:                                                        true,
		{Verb: "list", Resource: "namespaces"}:                                                          true,
		{Verb: "delete", Resource: "namespaces", Name: "reviews-a"}:                                     true,
		{Verb: "get", Resource: "namespaces", Name: "reviews-a"}:                                        true,
		{Verb: "get", Resource: "namespaces", Name: people}:                                             false,
		{Verb: "create", Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}:                  true,
		{Verb: "bind", Group: "rbac.authorization.k8s.io", Resource: "clusterroles", Name: "x"}:         false,
		{Verb: "create", Group: "storage.k8s.io", Resource: "storageclasses"}:                           false,
		{Verb: "create", Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}:          false,
		{Verb: "impersonate", Resource: "users"}:                                                        false,
		{Verb: "list", Group: "hnc.x-k8s.io", Resource: "hierarchies", Namespace: tn.root}:              true,
		{Verb: "list", Group: "hnc.x-k8s.io", Resource: "hierarchies", Namespace: people, Name: "some"}: false,
	} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &question}}
		answer, err := tn.view.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		must(t, "review", err)
		if answer.Status.Allowed != want {
			t.Errorf("%s: allowed is %v: %s", question.String(), answer.Status.Allowed, answer.Status.Reason)
		}
	}
	for ns, want := range map[string]bool{"reviews-a": true, people: false} {
		review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: ns}}
		answer, err := tn.view.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(), review, metav1.CreateOptions{})
		must(t, "review", err)
		if rules := len(answer.Status.ResourceRules) > 0; rules != want {
			t.Errorf("rules in %s: %v", ns, answer.Status.ResourceRules)
		}
	}
}

// A controller that asks what its callers may do gets the answers of the view.
func TestReviewsOfOtherUsersAnswerForTheView(t *testing.T) {
	tn := newTenant(t, "asked").relative(t)
	child(t, "asked-a", tn.root)
	const account = "system:serviceaccount:a:robot"
	_, err := tn.view.RbacV1().RoleBindings("a").Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "robot"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "a", Name: "robot"}}}, metav1.CreateOptions{})
	must(t, "binding", err)
	for _, question := range []struct {
		attributes *authorizationv1.ResourceAttributes
		allowed    bool
	}{
		{&authorizationv1.ResourceAttributes{Verb: "create", Resource: "configmaps", Namespace: "a"}, true},
		{&authorizationv1.ResourceAttributes{Verb: "create", Resource: "configmaps", Namespace: "default"}, false},
		{&authorizationv1.ResourceAttributes{Verb: "create", Resource: "configmaps"}, false},
		{&authorizationv1.ResourceAttributes{Verb: "create", Resource: "configmaps", Namespace: people}, false},
		{&authorizationv1.ResourceAttributes{Verb: "get", Group: "storage.k8s.io", Resource: "storageclasses"}, false},
		{nil, false},
	} {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: account, ResourceAttributes: question.attributes}}
		if question.attributes == nil {
			review.Spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"}
		}
		suite.EventuallyEqual(t, fmt.Sprint(question.attributes), fmt.Sprint(question.allowed, account), func() string {
			answer, err := tn.view.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
			must(t, "review", err)
			return fmt.Sprint(answer.Status.Allowed, answer.Spec.User)
		})
	}
	if token := tn.run(t, "", "create", "token", "default", "-n", "a"); strings.Count(token, ".") != 2 {
		t.Errorf("a token: %s", token)
	}
	// Reviews are a permission of their own, which readers do not have.
	_, err = newReader(t, tn).AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: account, ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "secrets", Namespace: "a"}}}, metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) || strings.Contains(err.Error(), "asked-a") {
		t.Errorf("a reader reviews permissions: %v", err)
	}
}

// plugin returns kubectl hns view as a process of the tenant.
func (tn *tenant) plugin(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(ctx, filepath.Join(binDir, "kubectl-hns"), append([]string{"view"}, args...)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+tn.kubeconfig, "TMPDIR="+t.TempDir())
	return command
}

func TestThePluginRunsACommandInAView(t *testing.T) {
	tn := newTenant(t, "shell")
	kubectl, err := filepath.Abs(filepath.Join(binDir, "kubectl"))
	must(t, "path", err)
	script := `"$0" create namespace a && "$0" create configmap x -n a && "$0" get configmaps -A --field-selector metadata.name=x --no-headers | cut -d " " -f 1 && "$0" delete namespace a && "$0" config view --minify -o 'jsonpath={..namespace}'; exit 7`
	command := tn.plugin(t.Context(), t, tn.root, "--", "sh", "-c", script, kubectl)
	out, err := command.CombinedOutput()
	want := "namespace/a created\nconfigmap/x created\na\nnamespace \"a\" deleted\ndefault"
	if string(out) != want || command.ProcessState.ExitCode() != 7 {
		t.Errorf("got exit code %d, %v:\n%s\nwant 7:\n%s", command.ProcessState.ExitCode(), err, out, want)
	}
	for message, args := range map[string][]string{
		"name one namespace, and the command after --": {tn.root, "kubectl"},
		`namespace "people" does not exist`:            {people},
		"executable file not found":                    {tn.root, "--", "no-such-command"},
	} {
		command := tn.plugin(t.Context(), t, args...)
		if out, err := command.CombinedOutput(); err == nil || !strings.Contains(string(out), message) {
			t.Errorf("%v: got %s, want %s", args, out, message)
		}
	}
}

func TestCtrlCEndsAViewAndRemovesItsKubeconfig(t *testing.T) {
	tn := newTenant(t, "interrupt")
	ctx, cancel := context.WithTimeout(t.Context(), suite.Deadline)
	defer cancel()
	command := tn.plugin(ctx, t, tn.root)
	var out bytes.Buffer
	pipe, err := command.StdoutPipe()
	must(t, "pipe", err)
	must(t, "start", command.Start())
	for !strings.HasSuffix(out.String(), "\n") {
		b := make([]byte, 512)
		n, err := pipe.Read(b)
		must(t, "read", err)
		out.Write(b[:n])
	}
	file, _, _ := strings.Cut(strings.TrimPrefix(out.String(), "export KUBECONFIG="), " ")
	info, err := os.Stat(file)
	must(t, "kubeconfig", err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the kubeconfig has mode %v", info.Mode())
	}
	if list, err := exec.CommandContext(ctx, filepath.Join(binDir, "kubectl"), "--kubeconfig", file, "get", "namespaces", "-o", "name").CombinedOutput(); string(list) != "namespace/default\n" {
		t.Errorf("got %s, %v", list, err)
	}
	must(t, "interrupt", command.Process.Signal(syscall.SIGINT))
	if err := command.Wait(); err != nil {
		t.Errorf("the plugin ended with %v", err)
	}
	if _, err := os.Stat(filepath.Dir(file)); !os.IsNotExist(err) {
		t.Errorf("the directory of the kubeconfig is left: %v", err)
	}
}
