// Package exceptions parses the annotations that limit where a source is propagated, and decides which descendants they
// select. It has no clients. Source: docs/spec/hnc.md 3.8.
package exceptions
