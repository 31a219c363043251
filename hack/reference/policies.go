package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// policies writes the page of the admission policies: the comment at the top of each file is what it says.
func policies() (string, error) {
	files, err := filepath.Glob("pkg/admissionpolicy/*.yaml")
	if err != nil {
		return "", err
	}
	bounds, err := filepath.Glob("pkg/admissionpolicy/*/*.yaml")
	if err != nil {
		return "", err
	}
	files = append(files, bounds...)
	slices.SortFunc(files, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	var page strings.Builder
	page.WriteString("# Admission policies\n\nThe rules about objects of other APIs that kube-apiserver enforces by itself. A denial names its policy. " +
		"All fail closed: a request that cannot be evaluated is denied. The lists have the short messages; the one in a denial names your object and what to do, such as\n" +
		"`ConfigMap team-a/settings is inherited from namespace acme: change it there, in namespace acme`.\n\n```sh\nkubectl get validatingadmissionpolicies,mutatingadmissionpolicies\n```\n")
	for _, file := range files {
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		for document := range strings.SplitSeq(string(source), "\n---\n") {
			var policy struct {
				Kind     string
				Metadata struct{ Name string }
				Spec     struct {
					Validations []struct{ Message string }
				}
			}
			if err := yaml.Unmarshal([]byte(document), &policy); err != nil {
				return "", fmt.Errorf("%s: %w", file, err)
			}
			if !strings.HasSuffix(policy.Kind, "Policy") {
				continue
			}
			fmt.Fprintf(&page, "\n## %s\n\n%s\n", policy.Metadata.Name, comment(document))
			first := true
			for _, validation := range policy.Spec.Validations {
				if validation.Message == "" {
					continue
				}
				if first {
					page.WriteString("\nMessages:\n\n")
					first = false
				}
				fmt.Fprintf(&page, "- %s\n", cell(validation.Message))
			}
		}
	}
	return page.String(), nil
}

// comment returns the comment before the first line of a document, without the names of sources in the repository.
func comment(document string) string {
	var text []string
	for line := range strings.Lines(document) {
		line = strings.TrimSpace(line)
		rest, ok := strings.CutPrefix(line, "#")
		if !ok {
			if line == "" {
				continue
			}
			break
		}
		text = append(text, strings.TrimSpace(rest))
	}
	paragraphs := strings.Split(strings.Join(text, "\n"), "\n\n")
	for i, paragraph := range paragraphs {
		paragraphs[i] = cell(source.ReplaceAllString(paragraph, ""))
	}
	return strings.Join(paragraphs, "\n\n")
}
