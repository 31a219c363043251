package view

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// chart is what an operator's chart consists of: permissions in the whole cluster, and a program that has them.
var chart = map[string]string{
	"Chart.yaml":  "apiVersion: v2\nname: operator\nversion: 0.1.0\n",
	"values.yaml": "verbs: [get]\nwebhook: false\n",
	"templates/all.yaml": `
apiVersion: v1
kind: ServiceAccount
metadata: {name: {{ .Release.Name }}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: {{ .Release.Name }}}
rules:
- {apiGroups: [""], resources: [configmaps, nodes], verbs: {{ toJson .Values.verbs }}}
- {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: {{ .Release.Name }}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ .Release.Name }}}
subjects:
- {kind: ServiceAccount, name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: {{ .Release.Name }}-view}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects:
- {kind: ServiceAccount, name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: 0
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec:
      serviceAccountName: {{ .Release.Name }}
      containers: [{name: c, image: none}]
{{ if .Values.webhook }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: {{ .Release.Name }}}
webhooks: []
{{ end }}`,
}

// Two tenants install, upgrade and remove the same chart with the same names.
func TestHelmInstallsAChartInEachView(t *testing.T) {
	dir := t.TempDir()
	for name, content := range chart {
		path := filepath.Join(dir, name)
		must(t, "chart", os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, "chart", os.WriteFile(path, []byte(content), 0o600))
	}
	tenants := []*tenant{newUser(t, "helm-a"), newUser(t, "helm-b")}
	helm := func(tn *tenant, args ...string) (string, error) {
		command := exec.CommandContext(t.Context(), filepath.Join(binDir, "helm"), args...)
		command.Env = append(os.Environ(), "KUBECONFIG="+tn.viewed, "HOME="+t.TempDir())
		out, err := command.CombinedOutput()
		return string(out), err
	}
	run := func(tn *tenant, args ...string) string {
		out, err := helm(tn, args...)
		if err != nil {
			t.Fatalf("helm %v: %v: %s", args, err, out)
		}
		return out
	}
	verbs := func(tn *tenant) string {
		role, err := admin.RbacV1().Roles(tn.root+"-web").Get(t.Context(), "view:"+tn.root+":operator", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return "none"
		}
		must(t, "the copy of the Role", err)
		return strings.Join(role.Rules[0].Verbs, " ")
	}
	for _, tn := range tenants {
		run(tn, "install", "operator", dir, "--namespace", "web", "--create-namespace")
	}
	for _, tn := range tenants {
		run(tn, "upgrade", "operator", dir, "--namespace", "web", "--set", "verbs={get,list}", "--wait", "--timeout", "60s")
		if got := run(tn, "list", "-A"); strings.Count(got, "operator") < 1 || !strings.Contains(got, "web") {
			t.Errorf("list: %s", got)
		}
		suite.EventuallyEqual(t, "the verbs of the copy", "get list", func() string { return verbs(tn) })
	}
	out, err := helm(tenants[0], "upgrade", "operator", dir, "--namespace", "web", "--set", "webhook=true")
	if err == nil || !strings.Contains(out, `no matches for kind "ValidatingWebhookConfiguration"`) {
		t.Errorf("a chart with a webhook: %v: %s", err, out)
	}
	run(tenants[0], "uninstall", "operator", "--namespace", "web")
	suite.EventuallyEqual(t, "the verbs of the copy", "none", func() string { return verbs(tenants[0]) })
	if got := verbs(tenants[1]); got != "get list" {
		t.Errorf("the other tenant has %s", got)
	}
}
