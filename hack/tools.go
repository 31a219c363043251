//go:build tools

// Package hack pins the modules that the scripts in this folder run.
package hack

import _ "k8s.io/code-generator"
