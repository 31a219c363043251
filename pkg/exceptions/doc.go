// Package exceptions reads the annotations by which a source says to which namespaces it is, or is not, propagated. It has no
// clients. Source: spec/hnc.md 3.8.
package exceptions
