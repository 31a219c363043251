// Package wire reads and writes objects in Kubernetes' protobuf encoding and decodes only the metadata that matters for
// propagation. The rest stays bytes: the content of a copy need not be understood, and fields of a newer API server
// than this code knows are kept. The encoding itself is read by protowire.
package wire
