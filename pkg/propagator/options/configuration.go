package options

import (
	"fmt"
	"os"

	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/configrules"
)

// readConfiguration returns the spec of the HNCConfiguration in a file, an empty one for an empty path. hns-apiserver
// validates what depends on the cluster.
func readConfiguration(path string) (v1beta1.HNCConfigurationSpec, error) {
	configuration := v1beta1.HNCConfiguration{}
	if path == "" {
		return configuration.Spec, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return configuration.Spec, err
	}
	if err := yaml.UnmarshalStrict(content, &configuration); err != nil {
		return configuration.Spec, err
	}
	if want := v1beta1.SchemeGroupVersion.WithKind("HNCConfiguration"); configuration.GroupVersionKind() != want {
		return configuration.Spec, fmt.Errorf("it is a manifest of %s, not of %s", configuration.GroupVersionKind(), want)
	}
	return configuration.Spec, configrules.Validate(configuration.Spec.Rules, configrules.Path).ToAggregate()
}
