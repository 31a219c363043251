// Command chart writes the templates of the Helm chart that have no logic of their own from the kustomizations, which
// are their only source. With -check it writes nothing and fails if a template is out of date. Run it from the
// repository's root.
//
// Deployments, the persistent volume claim and the disruption budgets depend on values: their templates are written by
// hand, and test/integration/install compares what they render with the kustomizations.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const templates = "artifacts/chart/templates"

// sources are the kustomizations, each with the condition under which its objects are rendered.
var sources = []struct{ path, condition string }{
	{"artifacts/base", ""},
	{"artifacts/policies", "not .Values.besideHNC"},
	{"artifacts/sync", ".Values.sync.enabled"},
	{"artifacts/view", ".Values.view.enabled"},
}

// byHand are the kinds whose templates are written by hand. Helm creates the namespace of a release itself, and that of
// the accounts of RepositorySyncs must not be deleted with the release.
var byHand = []string{"Deployment", "Namespace", "PersistentVolumeClaim", "PodDisruptionBudget"}

// file is a generated template: objects of these kinds, rendered under a condition.
type file struct {
	name, condition string
	kinds           []string
}

var files = []file{
	{name: "service-accounts", kinds: []string{"ServiceAccount"}},
	{name: "roles", kinds: []string{"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}},
	{name: "service", kinds: []string{"Service"}},
	{name: "apiservices", kinds: []string{"APIService"}},
	{name: "flow-control", condition: ".Values.flowControl.enabled", kinds: []string{"FlowSchema", "PriorityLevelConfiguration"}},
	{name: "network-policies", condition: ".Values.networkPolicies.enabled", kinds: []string{"NetworkPolicy"}},
	{name: "policies", kinds: []string{
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	}},
}

// The names of the excluded namespaces are written in the policies. The mark replaces them until the object is YAML,
// which would break the line in an action of the template.
const (
	excluded       = "['kube-system', 'kube-public', 'kube-node-lease', 'hnc-system', 'hns-system']"
	excludedMark   = "EXCLUDED_NAMESPACES"
	excludedAction = `{{ include "hnc.excluded" . }}`
)

// serviceMark stands for the name of the Service of an APIService, after which its certificate is named.
const serviceMark = "SERVICE_OF_THE_API"

// conditions are those of single objects.
var conditions = map[string]string{
	"ClusterRole/hns-propagator:certificates":        `eq .Values.certificates.issuer "built-in"`,
	"ClusterRoleBinding/hns-propagator:certificates": `eq .Values.certificates.issuer "built-in"`,
	"Role/hns-propagator:certificates":               `eq .Values.certificates.issuer "built-in"`,
	"RoleBinding/hns-propagator:certificates":        `eq .Values.certificates.issuer "built-in"`,
	"APIService/v1alpha2.hnc.x-k8s.io":               `not (or .Values.besideHNC .Values.disableV1alpha2)`,
	"APIService/v1alpha2.resources.hnc.x-k8s.io":     `not .Values.besideHNC`,
}

// patches replace parts of single objects.
var patches = map[string]*strings.Replacer{
	"APIService/": strings.NewReplacer(
		"  labels:\n", `  {{- with include "hnc.apiservice.annotations" (dict "root" . "service" "`+serviceMark+`") }}`+"\n  annotations:\n    {{- . | nindent 4 }}\n  {{- end }}\n  labels:\n",
		"spec:\n", "spec:\n"+`  {{- if eq .Values.certificates.issuer "secret" }}`+"\n  caBundle: {{ .Values.certificates.caBundle | b64enc }}\n  {{- end }}\n",
		// HNC's version is the preferred one as long as HNC serves it.
		"versionPriority: 200", "versionPriority: {{ if .Values.besideHNC }}10{{ else }}200{{ end }}",
		"versionPriority: 150", "versionPriority: {{ if .Values.besideHNC }}5{{ else }}150{{ end }}"),
	"ClusterRole/hns-apiserver:any-kind": strings.NewReplacer(
		"rules:\n", "rules:\n"+`{{- if .Values.apiserver.readableKinds }}`+"\n{{ toYaml .Values.apiserver.readableKinds }}\n{{- else }}\n", "  - watch\n", "  - watch\n{{- end }}\n"),
}

func main() {
	check := flag.Bool("check", false, "compare only")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	rendered, err := render()
	if err != nil {
		return err
	}
	for name, content := range rendered {
		path := filepath.Join(templates, name+".yaml")
		existing, err := os.ReadFile(path)
		if err == nil && bytes.Equal(existing, content) {
			continue
		}
		if check {
			return fmt.Errorf("%s is out of date: run go run ./hack/chart", path)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil { //nolint:gosec // a file of this repository
			return err
		}
	}
	return nil
}

// render returns the content of each generated template.
func render() (map[string][]byte, error) {
	rendered := map[string][]byte{}
	for _, source := range sources {
		objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), source.path)
		if err != nil {
			return nil, err
		}
		for _, object := range objects.Resources() {
			if slices.Contains(byHand, object.GetKind()) {
				continue
			}
			at := slices.IndexFunc(files, func(f file) bool { return slices.Contains(f.kinds, object.GetKind()) })
			if at < 0 {
				return nil, fmt.Errorf("%s %s: no template is for this kind, add it in hack/chart", object.GetKind(), object.GetName())
			}
			text, err := template(object, source.condition)
			if err != nil {
				return nil, err
			}
			rendered[files[at].name] = append(rendered[files[at].name], text...)
		}
	}
	for _, f := range files {
		content := string(rendered[f.name])
		if f.condition != "" {
			content = "{{- if " + f.condition + " }}\n" + content + "{{- end }}\n"
		}
		rendered[f.name] = []byte("{{- /* Generated by hack/chart from the kustomizations. */}}\n" + content)
	}
	return rendered, nil
}

// template returns the object with its values and conditions: its own, or that of its source.
func template(object *resource.Resource, condition string) (string, error) {
	content, err := object.Map()
	if err != nil {
		return "", err
	}
	encoded, err := yaml.Marshal(replace(content))
	if err != nil {
		return "", err
	}
	if bytes.Contains(encoded, []byte("{{")) {
		return "", fmt.Errorf("%s %s contains {{", object.GetKind(), object.GetName())
	}
	text := strings.ReplaceAll(string(encoded), excludedMark, excludedAction)
	for name, patch := range patches {
		if name == object.GetKind()+"/"+object.GetName() || name == object.GetKind()+"/" {
			text = patch.Replace(text)
		}
	}
	if strings.Contains(text, serviceMark) {
		service, err := object.GetString("spec.service.name")
		if err != nil {
			return "", err
		}
		text = strings.ReplaceAll(text, serviceMark, service)
	}
	text = "---\n" + text
	if condition = cmp.Or(conditions[object.GetKind()+"/"+object.GetName()], condition); condition != "" {
		text = "{{- if " + condition + " }}\n" + text + "{{- end }}\n"
	}
	return text, nil
}

// replace returns the value with marks in all its strings.
func replace(value any) any {
	switch value := value.(type) {
	case string:
		return strings.ReplaceAll(value, excluded, excludedMark)
	case map[string]any:
		for key, v := range value {
			value[key] = replace(v)
		}
	case []any:
		for i, v := range value {
			value[i] = replace(v)
		}
	}
	return value
}
