package v1beta1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// SetDefaults_HNCConfigurationSpec gives the configuration rules, whose fields get their own defaults.
func SetDefaults_HNCConfigurationSpec(spec *HNCConfigurationSpec) {
	if spec.Rules == nil {
		spec.Rules = &Rules{}
	}
}

// SetDefaults_Rules sets the lists that have a default and are empty.
func SetDefaults_Rules(rules *Rules) {
	if len(rules.ExcludedNamespaces) == 0 {
		rules.ExcludedNamespaces = slices.Clone(hnc.ExcludedNamespaces)
	}
	if len(rules.SkippedObjects) == 0 {
		rules.SkippedObjects = []metav1.LabelSelector{{MatchLabels: map[string]string{"cattle.io/creator": "norman"}}}
	}
}
