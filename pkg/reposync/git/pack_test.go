package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-billy/v5/memfs"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/memory"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/load"
)

// bounded fails if reading allocates more than limit, in all: go-git reads whole objects into memory.
func bounded(t *testing.T, limit uint64, f func()) {
	t.Helper()
	allocated := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before := allocated()
	f()
	if used := allocated() - before; used > limit {
		t.Errorf("%d MiB are allocated, the limit is %d", used>>20, limit>>20)
	}
}

// bomb returns a repository with a small file, and one of 100 MB that packs to a tenth of one. It is outside of the
// directories that are read.
func bomb(t *testing.T) (dir string) {
	t.Helper()
	dir, _ = repository(t, t.TempDir(), map[string]string{"cluster/a.yaml": someMap})
	f, err := os.Create(filepath.Join(dir, "zeros"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(100<<20), f.Close()); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"add", "zeros"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message", "c"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return dir
}

func TestPacksThatUnpackToMuchMore(t *testing.T) {
	RestrictProtocols(256 << 20)
	dir := bomb(t)
	url, ca := serveHTTPS(t, dir)
	reader := &Reader{Scratch: t.TempDir(), MaxBytes: 256 << 20}
	bounded(t, 64<<20, func() {
		_, err := reader.Read(t.Context(), Source{URL: url}, &Credentials{Username: "git", Password: "secret", CA: ca})
		if err == nil || !strings.Contains(err.Error(), "an object of the repository has 100 MiB, and the limit is 64 MiB") {
			t.Errorf("got %v", err)
		}
	})
	if left, err := os.ReadDir(reader.Scratch); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
	// From a local repository, only what is needed is read.
	bounded(t, 64<<20, func() {
		snapshot, err := (&Reader{LocalRoot: filepath.Dir(dir)}).Read(t.Context(), Source{URL: "file://" + dir}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if objects, errs := load.Load(snapshot.FS, load.DefaultLimits); len(errs) > 0 || len(objects) != 1 {
			t.Errorf("got %d objects, %v", len(objects), errs)
		}
		if _, err := fs.ReadFile(snapshot.FS, "zeros"); err == nil || !strings.Contains(err.Error(), "100 MiB") {
			t.Errorf("got %v", err)
		}
	})
}

// TestDeltasThatUnpackToMuchMore has a delta that copies one byte range again and again.
func TestDeltasThatUnpackToMuchMore(t *testing.T) {
	check := func(name string, pack []byte, maxInflated int64, want string) {
		t.Helper()
		_, err := checkPack(bytes.NewReader(pack), maxInflated, newQuota(nil, 0, nil))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	for name, row := range map[string]struct {
		pack []byte
		want string
	}{
		"one":                                  {packOf(t, star, 1, 4, 100<<20), "has 100 MiB"},
		"many":                                 {packOf(t, star, 9, 4, 60<<20), "more than 512 MiB when unpacked"},
		"few":                                  {packOf(t, star, 8, 4, 60<<20), ""},
		"of what is too large":                 {packOf(t, star, 1, 100<<20, 4), "has 100 MiB"},
		"many of a large object":               {packOf(t, star, 9, 60<<20, 4), "more than 512 MiB when unpacked"},
		"large ones of a large object":         {packOf(t, star, 4, 60<<20, 60<<20), ""},
		"large ones of what may be each other": {packOf(t, named, 4, 60<<20, 60<<20), "takes 576 MiB of memory"},
		"the largest":                          {packOf(t, star, 1, maxObject, maxObject), ""},
	} {
		check(name, row.pack, 512<<20, row.want)
	}
	// go-git holds all that leads to an object, unless it still has one of them: other deltas may have it drop them.
	for name, row := range map[string]struct {
		pack []byte
		want string
	}{
		"large ones of each other":           {packOf(t, chain, 3, 60<<20, 60<<20), ""},
		"more large ones of each other":      {packOf(t, chain, 4, 60<<20, 60<<20), "takes 516 MiB of memory"},
		"many of each other":                 {packOf(t, chain, 40, 8<<20, 8<<20), ""},
		"too many of each other":             {packOf(t, chain, 42, 8<<20, 8<<20), "takes 456 MiB of memory"},
		"many of one":                        {packOf(t, star, 100, 8<<20, 8<<20), ""},
		"many of what may be each other":     {packOf(t, named, 35, 8<<20, 8<<20), ""},
		"of each other in turn":              {packOf(t, twins, 4, 60<<20, 60<<20), ""},
		"of each other in turn, again":       {packOf(t, twins, 8, 60<<20, 60<<20), "takes 516 MiB of memory"},
		"of each other with too many before": {packOf(t, twins, 120, 50<<20, 50<<20), "MiB of memory"},
	} {
		check(name, row.pack, 16<<30, row.want)
	}
}

// What deltas apply to: the first object of a pack, by offset or by name, the delta before, or the one before that.
const (
	star = iota
	named
	chain
	twins
)

// packOf returns a pack with a small blob, and deltas that say that they apply to an object of a size, and with which
// result.
func packOf(t *testing.T, shape, deltas, base, result int) []byte {
	t.Helper()
	var pack bytes.Buffer
	pack.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00")
	pack.WriteByte(byte(1 + deltas))
	add := func(kind plumbing.ObjectType, reference []byte, content []byte) {
		pack.WriteByte(byte(kind)<<4 | byte(len(content)))
		pack.Write(reference)
		packed := zlib.NewWriter(&pack)
		if _, err := packed.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := packed.Close(); err != nil {
			t.Fatal(err)
		}
	}
	hash := plumbing.ComputeHash(plumbing.BlobObject, []byte("abcd"))
	at, last := pack.Len(), pack.Len()
	add(plumbing.BlobObject, nil, []byte("abcd"))
	delta := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(base)), uint64(result))
	for range deltas {
		if shape == named {
			add(plumbing.REFDeltaObject, hash[:], delta)
			continue
		}
		begin := pack.Len()
		back := begin - at
		reference := []byte{byte(back)}
		if back >= 1<<7 {
			reference = []byte{0x80 | byte(back>>7-1), byte(back & 0x7f)}
		}
		add(plumbing.OFSDeltaObject, reference, delta)
		switch shape {
		case chain:
			at = begin
		case twins:
			at, last = last, begin
		}
	}
	pack.Write(checksum(pack.Bytes()))
	return pack.Bytes()
}

// checksum returns what a pack ends with.
func checksum(pack []byte) []byte {
	sum := sha1.Sum(pack)
	return sum[:]
}

// encoded returns a pack of a file of zeros.
func encoded(t *testing.T, size int) []byte {
	t.Helper()
	objects := memory.NewStorage()
	c := newCrafted(t, objects)
	blob := c.blob(strings.Repeat("\x00", size))
	var pack bytes.Buffer
	if _, err := packfile.NewEncoder(&pack, objects, false).Encode([]plumbing.Hash{blob.Hash}, 0); err != nil {
		t.Fatal(err)
	}
	return pack.Bytes()
}

// fetching returns a fetch that counts its turns, and a storage for it.
func fetching(t *testing.T) (f *fetch, turns *int, s *storage) {
	t.Helper()
	turns = new(int)
	f = newFetch(t.Context(), func(ctx context.Context, f func(context.Context) error) error {
		*turns++
		return f(ctx)
	})
	t.Cleanup(f.end)
	disk := newQuota(osfs.New(t.TempDir(), osfs.WithBoundOS()), 1<<20, nil)
	disk.fetch = f
	return f, turns, &storage{filesystem.NewStorage(disk, cache.NewObjectLRUDefault()), disk, 1 << 20}
}

// go-git holds objects to unpack them, deltas with what they apply to, when it has the end of a pack, and again when they
// are read.
func TestLargeObjectsAreUnpackedInTurn(t *testing.T) {
	RestrictProtocols(256 << 20)
	for size, want := range map[int]int{freeUnpacked / 2: 0, freeUnpacked/2 + 1: 2} {
		dir, _ := repository(t, t.TempDir(), map[string]string{"file": strings.Repeat("\x00", size)})
		url, ca := serveHTTPS(t, dir)
		turns := 0
		reader := &Reader{Scratch: t.TempDir(), MaxBytes: 1 << 20, InTurn: func(ctx context.Context, f func(context.Context) error) error {
			turns++
			return f(ctx)
		}}
		snapshot, err := reader.Read(t.Context(), Source{URL: url}, &Credentials{Username: "git", Password: "secret", CA: ca})
		if err != nil {
			t.Fatal(err)
		}
		if turns != want {
			t.Errorf("%d bytes: got %d turns, want %d", size, turns, want)
		}
		if err := snapshot.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Otherwise the end would not be held back until it is the turn.
func TestPacksHaveAnEnd(t *testing.T) {
	f, turns, s := fetching(t)
	w, err := s.PackfileWriter()
	if err == nil {
		_, err = w.Write(encoded(t, freeUnpacked))
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte{0}); err == nil || !strings.Contains(err.Error(), "more than a pack") {
		t.Errorf("got %v", err)
	}
	if err := w.Close(); err != nil || *turns != 1 || f.limit.Stop() {
		t.Errorf("got %v, and %d turns; others may be in turn for any time", err, *turns)
	}
}

// Nor would it be checked whether they may be unpacked.
func TestRefusedPacksAreNotUnpacked(t *testing.T) {
	pack := packOf(t, twins, 16, 60<<20, 60<<20)
	_, turns, s := fetching(t)
	file, err := s.Storage.PackfileWriter()
	if err != nil {
		t.Fatal(err)
	}
	stored := &recorder{WriteCloser: file}
	w := newPackWriter(stored, 4<<30, s.disk)
	for _, data := range [][]byte{pack[:len(pack)-sha1.Size], pack[len(pack)-sha1.Size:]} {
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "of memory") || *turns != 0 {
		t.Errorf("got %v, and %d turns", err, *turns)
	}
	if !errors.Is(stored.err, errRefused) {
		t.Errorf("it is unpacked: %v", stored.err)
	}
}

// recorder is a file that keeps the error of its first Close.
type recorder struct {
	io.WriteCloser
	err error
}

func (r *recorder) Close() error {
	r.err = r.WriteCloser.Close()
	return r.err
}

// Objects can be so many deltas of each other that to unpack them takes hours.
func TestUnpackingEndsWithTheFetch(t *testing.T) {
	failed := errors.New("failed")
	f, _, s := fetching(t)
	w, err := s.PackfileWriter()
	if err == nil {
		_, err = w.Write(encoded(t, 1000))
	}
	if err != nil {
		t.Fatal(err)
	}
	f.cancel(failed)
	if err := w.Close(); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	// So does the fetch with the turn.
	f, _, s = fetching(t)
	f.inTurn = func(ctx context.Context, f func(context.Context) error) error {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(failed)
		return f(ctx)
	}
	s.disk.memory = freeUnpacked + 1
	if err := s.disk.unpack(func() error { <-f.Done(); return context.Cause(f) }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
}

// manyPaths returns a tree with a number of paths to one directory that has 20 001 entries, one of which is read.
func (c *crafted) manyPaths(count int) object.TreeEntry {
	var entries, paths []object.TreeEntry
	blob := c.blob("# empty\n")
	for i := range 20_000 {
		blob.Name = fmt.Sprintf("%06d", i)
		entries = append(entries, blob)
	}
	blob.Name = "a.yaml"
	leaf := c.tree("", append(entries, blob)...)
	for i := range count {
		leaf.Name = fmt.Sprintf("%04d", i)
		paths = append(paths, leaf)
	}
	return c.tree("", c.tree("cluster", paths...))
}

func TestTreesAreKeptOnce(t *testing.T) {
	c := newCrafted(t, memory.NewStorage())
	snapshot, err := snapshotOf(c.git, c.commit(c.manyPaths(49)))
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if _, errs := load.Load(snapshot.FS, load.DefaultLimits); len(errs) > 0 {
		t.Fatal(errs)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > 16<<20 {
		t.Errorf("%d MiB are in use", used>>20)
	}
	runtime.KeepAlive(snapshot)
}

func TestEntriesAreLimited(t *testing.T) {
	c := newCrafted(t, memory.NewStorage())
	if errs := c.loaded(c.manyPaths(2)); len(errs) == 0 || !strings.Contains(errs.Error(), "1000000 files and directories") {
		t.Errorf("got %v", errs)
	}
	if tree := newTreeFS(nil, plumbing.ZeroHash); *tree.directories != 100_000 || *tree.entries != 1_000_000 {
		t.Errorf("%d directories and %d entries may be read", *tree.directories, *tree.entries)
	}
}

// TestLinksDoNotReadTreesAgainAndAgain has links by turns into more trees than are kept.
func TestLinksDoNotReadTreesAgainAndAgain(t *testing.T) {
	c := newCrafted(t, memory.NewStorage())
	const trees, links, size = 6, 12, maxCachedEntries / 5
	target := c.blob(someMap)
	var entries []object.TreeEntry
	for i := range trees {
		files := make([]object.TreeEntry, size)
		for n := range files {
			files[n] = target
			files[n].Name = fmt.Sprintf("%d-%05d", i, n)
		}
		entries = append(entries, c.tree(fmt.Sprintf("d%d", i), files...))
	}
	for i := range links {
		link := c.blob(fmt.Sprintf("../d%d/%d-00000", i%trees, i%trees))
		link.Name, link.Mode = fmt.Sprintf("%04d", i), filemode.Symlink
		entries = append(entries, link)
	}
	linked := c.tree("cluster", entries[trees:]...)
	snapshot, err := snapshotOf(c.git, c.commit(c.tree("", append(entries[:trees:trees], linked)...)))
	if err != nil {
		t.Fatal(err)
	}
	if _, errs := load.Load(snapshot.FS, load.DefaultLimits); len(errs) > 0 {
		t.Fatal(errs)
	}
	if left := *snapshot.FS.(*treeFS).entries; left >= 0 {
		t.Errorf("%d entries may still be read", left)
	}
}

// TestReadsEndWithTheContext reads from a server that begins to send a pack, and does not go on.
func TestReadsEndWithTheContext(t *testing.T) {
	RestrictProtocols(256 << 20)
	dir, _ := repository(t, t.TempDir(), map[string]string{"file": "content"})
	url, ca := serveSlowly(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	reader := &Reader{Scratch: t.TempDir(), MaxBytes: 1 << 20}
	if _, err := reader.Read(ctx, Source{URL: url}, &Credentials{Username: "git", Password: "secret", CA: ca}); err == nil {
		t.Error("something was read")
	}
	if reader.last.ended != nil {
		<-reader.last.ended
	}
	if left, err := os.ReadDir(reader.Scratch); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

// All RepositorySyncs share a volume. Whoever fills it would stop the process, and so all of them.
func TestReadersShareABudget(t *testing.T) {
	RestrictProtocols(256 << 20)
	dir, _ := repository(t, t.TempDir(), map[string]string{"file": "content"})
	url, ca := serveHTTPS(t, dir)
	read := func(budget *Budget) (*Snapshot, error) {
		return (&Reader{Scratch: t.TempDir(), MaxBytes: 1 << 20, Budget: budget}).
			Read(t.Context(), Source{URL: url}, &Credentials{Username: "git", Password: "secret", CA: ca})
	}
	const plenty = 1 << 20
	budget := NewBudget(plenty)
	first, err := read(budget)
	if err != nil {
		t.Fatal(err)
	}
	taken := plenty - budget.left.Load()
	budget.left.Store(taken - 1)
	if _, err := read(budget); !errors.Is(err, ErrBudget) {
		t.Errorf("the first is still there: got %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		second, err := read(budget)
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if left := budget.left.Load(); left != 2*taken-1 {
		t.Errorf("%d bytes are left, want %d", left, 2*taken-1)
	}
}

// go-git keeps something of each object in memory while a pack is received, and its server may be slow.
func TestReadersShareMemory(t *testing.T) {
	RestrictProtocols(256 << 20)
	dir, _ := repository(t, t.TempDir(), map[string]string{"file": "content"})
	url, ca := serveHTTPS(t, dir)
	budget := NewBudget(1 << 20)
	read := func() (*Snapshot, error) {
		return (&Reader{Scratch: t.TempDir(), MaxBytes: 1 << 20, Budget: budget}).
			Read(t.Context(), Source{URL: url}, &Credentials{Username: "git", Password: "secret", CA: ca})
	}
	// A commit, a tree and a file.
	budget.objects.left.Store(5)
	first, err := read()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read(); !errors.Is(err, ErrBudget) {
		t.Errorf("the first is still there: got %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if left := budget.objects.left.Load(); left != 5 {
		t.Errorf("space for %d objects is left", left)
	}
	if !NewBudget(0).objects.take(maxPackObjects, maxPackObjects) {
		t.Error("there is no space for the largest pack")
	}
}

// A server may say that it sends any number of objects.
func TestPacksTakeObjectsAsTheyArrive(t *testing.T) {
	budget := NewBudget(1 << 20)
	before := budget.objects.left.Load()
	_, err := checkPack(strings.NewReader("PACK\x00\x00\x00\x02\x00\x10\x00\x00"), 1<<20, newQuota(memfs.New(), 1<<20, budget))
	if taken := before - budget.objects.left.Load(); err == nil || taken > objectsAtOnce {
		t.Errorf("%d objects are taken: %v", taken, err)
	}
	// Those that arrive are taken, all of them: blobs without content.
	const count = objectsAtOnce + 1
	pack := bytes.NewBufferString("PACK\x00\x00\x00\x02")
	pack.Write(binary.BigEndian.AppendUint32(nil, count))
	for range count {
		pack.WriteByte(3 << 4)
		if err := zlib.NewWriter(pack).Close(); err != nil {
			t.Fatal(err)
		}
	}
	pack.Write(checksum(pack.Bytes()))
	before = budget.objects.left.Load()
	_, err = checkPack(pack, 1<<20, newQuota(memfs.New(), 1<<20, budget))
	if taken := before - budget.objects.left.Load(); err != nil || taken != count {
		t.Errorf("%d objects are taken: %v", taken, err)
	}
}

// Servers that send large repositories slowly leave space for small ones.
func TestLargeRepositoriesLeaveSpaceForSmallOnes(t *testing.T) {
	budget := NewBudget(4800)
	write := func(bytes int) error {
		file, err := newQuota(memfs.New(), 4800, budget).Create("file")
		if err != nil {
			t.Fatal(err)
		}
		for range bytes / 100 {
			if _, err := file.Write(make([]byte, 100)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := write(4800); !errors.Is(err, ErrBudget) {
		t.Fatalf("a large one gets everything: %v", err)
	}
	if left := budget.left.Load(); left != 800 {
		t.Errorf("%d bytes are left, want 800", left)
	}
	for range 8 {
		if err := write(100); err != nil {
			t.Error(err)
		}
	}
}

// A volume of a pod survives its containers.
func TestScratchOfAnEarlierProcessIsRemoved(t *testing.T) {
	dir := t.TempDir()
	left, err := os.MkdirTemp(dir, scratchPrefix())
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "hns-sync-0-1")
	for _, d := range []string{filepath.Join(left, "objects"), other} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := RemoveScratch(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("that of another process is gone: %v", err)
	}
}

// The bytes of files that are still there count, and no longer.
func TestWhatCouldNotBeRemovedIsRemovedByALaterRead(t *testing.T) {
	const plenty = 1 << 20
	budget := NewBudget(plenty)
	parent := t.TempDir()
	dir := filepath.Join(parent, "dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	disk := newQuota(osfs.New(dir, osfs.WithBoundOS()), plenty, budget)
	file, err := disk.Create("file")
	if err == nil {
		_, err = file.Write(make([]byte, 100))
	}
	if err != nil {
		t.Fatal(err)
	}
	// RemoveAll rejects a path that ends so, also for root.
	stuck := dir + "/."
	if err := disk.remove(stuck); err == nil {
		t.Fatal("it is removed")
	}
	read := func() {
		t.Helper()
		reader := &Reader{Scratch: t.TempDir(), MaxBytes: plenty, Budget: budget}
		if _, err := reader.Read(t.Context(), Source{URL: "https://127.0.0.1:1"}, nil); err == nil {
			t.Fatal("nothing answers")
		}
	}
	read()
	if left := budget.left.Load(); left != plenty-100 {
		t.Errorf("%d bytes are left, want %d", left, plenty-100)
	}
	budget.remaining[dir] = budget.remaining[stuck]
	delete(budget.remaining, stuck)
	read()
	if left := budget.left.Load(); left != plenty || len(budget.remaining) > 0 {
		t.Errorf("%d bytes are left, and %d directories", left, len(budget.remaining))
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
}
