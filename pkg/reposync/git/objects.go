package git

import (
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

const (
	// maxObject limits single objects, packed or not: go-git unpacks each object of a pack into memory, and a few bytes
	// of a pack unpack to any number of bytes.
	maxObject = 64 << 20
	// maxTree limits directories, tags and commits, which are parsed in memory. A tree of this size has about 100 000
	// entries.
	maxTree = 4 << 20
	// maxExpansion limits how many times larger the objects of a pack are than the pack may be.
	maxExpansion = 16
)

func tooLarge(size int64) error {
	return fmt.Errorf("an object of the repository has %d MiB, and the limit is %d MiB; remove the file from the commit", size>>20, maxObject>>20)
}

// storage is the objects of a repository, in limited sizes.
type storage struct {
	*filesystem.Storage
	// disk is where packs are stored that are received, and maxBytes limits them.
	disk     *quota
	maxBytes int64
}

// EncodedObject returns an object, unless it is too large.
func (s *storage) EncodedObject(kind plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, error) {
	size, err := s.EncodedObjectSize(hash)
	if err != nil {
		return nil, err
	}
	if size > maxObject {
		return nil, tooLarge(size)
	}
	if size > maxTree && kind != plumbing.BlobObject && kind != plumbing.AnyObject {
		return nil, fmt.Errorf("a %s of the repository has more than %d MiB; split it", kind, maxTree>>20)
	}
	return s.Storage.EncodedObject(kind, hash)
}

// PackfileWriter stores a pack. It forwards data only after the sizes of all objects in them have been checked.
func (s *storage) PackfileWriter() (io.WriteCloser, error) {
	stored, err := s.Storage.PackfileWriter()
	if err != nil {
		return nil, err
	}
	return newPackWriter(stored, maxExpansion*s.maxBytes, s.disk), nil
}
