package copies

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// Users choose the UIDs of owner references on copies.
func TestOwnersOfACopyAreNotTakenForItsContent(t *testing.T) {
	whole := &content{encoding: inJSON{}, metadata: []byte("metadata"), rest: []byte("one two")}
	parted := &content{encoding: inJSON{}, metadata: []byte("metadata"), rest: []byte("one"), owners: []types.UID{" two"}}
	if whole.digest() == parted.digest() {
		t.Error("an owner has completed the content of a copy")
	}
}
