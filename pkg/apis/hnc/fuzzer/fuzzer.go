// Package fuzzer fills hierarchy objects with random content, for round-trip tests.
package fuzzer

import (
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// Funcs returns no functions of our own: any value of any field survives a round trip.
var Funcs = func(serializer.CodecFactory) []any { return nil }
