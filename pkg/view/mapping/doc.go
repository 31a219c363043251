// Package mapping translates requests and responses between a tenant view, in which the names of namespaces are
// relative to the view's root, and the cluster.
//
// Names translates one name. A Mapper translates bodies, patches, watches and selectors: everything in them that
// references lists, and nothing else. The remaining bytes are copied, so unknown fields, large numbers and the order of
// keys survive. It has no permissions and knows no server: it is not what protects a namespace from a tenant. It
// guarantees that a reference means the same on both sides, and that two namespaces never have one name.
package mapping
