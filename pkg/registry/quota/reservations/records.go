package reservations

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	quotav1 "k8s.io/apiserver/pkg/quota/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// key identifies a ResourceQuota of ours.
type key struct {
	namespace string
	scope     quota.Scope
}

// useFolder contains a record for each ResourceQuota of ours.
const useFolder = "quota/use"

// noScope stands for the empty scope in names of records.
const noScope = "all"

func (k key) record() string {
	scope := string(k.scope)
	if scope == "" {
		scope = noScope
	}
	return folderOf(k.namespace) + "/" + scope
}

// folderOf returns the folder with the records of a namespace.
func folderOf(namespace string) string { return useFolder + "/" + namespace }

// foldersOf returns the folders with the records of namespaces.
func foldersOf(namespaces []string) []string {
	folders := make([]string, len(namespaces))
	for i, namespace := range namespaces {
		folders[i] = folderOf(namespace)
	}
	return folders
}

func keyOf(record string) (key, bool) {
	namespace, scope, ok := strings.Cut(strings.TrimPrefix(record, useFolder+"/"), "/")
	if scope == noScope {
		scope = ""
	}
	return key{namespace, quota.Scope(scope)}, ok
}

// use is the recorded use of one ResourceQuota.
type use struct {
	// UID is that of the ResourceQuota, and Observed its resourceVersion whose status contained Used.
	UID      types.UID           `json:"uid,omitempty"`
	Observed uint64              `json:"observed"`
	Used     corev1.ResourceList `json:"used,omitempty"`
	// Reserved is the use above Used that writes of this very resourceVersion have reserved. At most one of them can
	// succeed.
	Reserved corev1.ResourceList `json:"reserved,omitempty"`
	// Ancestors are the namespace and its ancestors, the root last. They apply when the namespace is being deleted,
	// because then it leaves the tree before its objects are gone.
	Ancestors []string `json:"ancestors,omitempty"`
}

// charge is what the ledgers contain.
func (u *use) charge() corev1.ResourceList {
	if u == nil {
		return nil
	}
	if len(u.Reserved) == 0 {
		return u.Used
	}
	return quotav1.Max(u.Used, u.Reserved)
}

func (u *use) equal(other *use) bool {
	return u != nil && other != nil && equality.Semantic.DeepEqual(*u, *other)
}

// chargesAs reports whether both records charge the same ledgers with the same use, so that only the observed version
// differs.
func (u *use) chargesAs(other *use) bool {
	return u != nil && other != nil && u.UID == other.UID && slices.Equal(u.Ancestors, other.Ancestors) && quotav1.Equals(u.charge(), other.charge())
}

// decodeUse returns nil for a record that does not exist.
func decodeUse(entry fence.Entry) (*use, error) {
	if len(entry.Value) == 0 {
		return nil, nil
	}
	u := &use{}
	if err := json.Unmarshal(entry.Value, u); err != nil {
		return nil, fmt.Errorf("the record %s cannot be read: %w", entry.Name, err)
	}
	u.Used, u.Reserved = hnc.BoundQuantities(u.Used), hnc.BoundQuantities(u.Reserved)
	return u, nil
}

// storedUse is a record of use with its revision.
type storedUse struct {
	key
	*use
	revision int64
}

// stored returns the records of use below folders by quorum reads. There may be too many to have them all in memory. It
// ends with the first error. Empty records stand for none.
func (l *Ledger) stored(ctx context.Context, folders ...string) iter.Seq2[storedUse, error] {
	return func(yield func(storedUse, error) bool) {
		for entry, err := range l.config.Records.List(ctx, folders...) {
			stored := storedUse{revision: entry.Revision}
			if err == nil {
				stored.use, err = decodeUse(entry)
			}
			if err != nil {
				yield(storedUse{}, err)
				return
			}
			var ok bool
			if stored.key, ok = keyOf(entry.Name); ok && stored.use != nil && !yield(stored, nil) {
				return
			}
		}
	}
}

func encode(value any) []byte {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err) // maps of quantities
	}
	return encoded
}
