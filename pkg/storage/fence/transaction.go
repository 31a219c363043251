package fence

import (
	"path"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/util/sets"
)

// transaction collects the comparisons and the operations of one etcd transaction. Watches deliver its events in the
// order of the operations.
type transaction struct {
	prefix  string
	compare []clientv3.Cmp
	then    []clientv3.Op
}

// unchanged makes the transaction fail unless a key has the revision, 0 if it must not exist.
func (t *transaction) unchanged(key string, revision int64) {
	t.compare = append(t.compare, clientv3.Compare(clientv3.ModRevision(key), "=", revision))
}

func (t *transaction) put(key string, value []byte, options ...clientv3.OpOption) {
	t.then = append(t.then, clientv3.OpPut(key, string(value), options...))
}

func (t *transaction) delete(key string) { t.then = append(t.then, clientv3.OpDelete(key)) }

// addGuard adds what a guard compares and writes.
func (t *transaction) addGuard(guard *Guard) {
	for name, revision := range guard.Unchanged {
		t.unchanged(edgeKey(t.prefix, name), revision)
	}
	for name, revision := range guard.Unmarked {
		t.unchanged(markKey(t.prefix, name), revision)
	}
	for name, revision := range guard.UnchangedRecords {
		t.unchanged(recordKey(t.prefix, name), revision)
	}
	for name, value := range guard.Put {
		t.put(edgeKey(t.prefix, name), value)
	}
	for _, name := range guard.Delete {
		t.delete(edgeKey(t.prefix, name))
	}
	// etcd rejects a key that is given twice.
	for name := range sets.New(guard.Mark...) {
		t.put(markKey(t.prefix, name), nil)
	}
	for name, value := range guard.PutRecords {
		t.put(recordKey(t.prefix, name), value)
	}
	for _, name := range guard.DeleteRecords {
		t.delete(recordKey(t.prefix, name))
	}
}

// Edges, marks and records have folders beside those of the resources.
const (
	edgesFolder   = "edges"
	marksFolder   = "marks"
	recordsFolder = "records"
)

func markKey(prefix, name string) string {
	return path.Join("/", prefix, marksFolder, name)
}

func edgeKey(prefix, name string) string {
	return path.Join("/", prefix, edgesFolder, name)
}

func edgesPrefix(prefix string) string {
	return edgeKey(prefix, "") + "/"
}

func recordKey(prefix, name string) string {
	return path.Join("/", prefix, recordsFolder, name)
}
