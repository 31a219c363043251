// Package wire reads and writes objects in Kubernetes' protobuf encoding of which it decodes no more than the metadata that matters for
// propagation. The rest is bytes: what is copied need not be understood, and fields of a newer API server than this code knows are kept.
package wire
