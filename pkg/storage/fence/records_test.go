package fence

import (
	"context"
	"fmt"
	"slices"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// paged is an etcd that records how many values its answers contain. read is called after each of them.
type paged struct {
	clientv3.KV
	values []int
	read   func()
}

func (p *paged) Txn(ctx context.Context) clientv3.Txn { return pagedTxn{p.KV.Txn(ctx), p} }

type pagedTxn struct {
	clientv3.Txn
	p *paged
}

func (t pagedTxn) Then(ops ...clientv3.Op) clientv3.Txn { return pagedTxn{t.Txn.Then(ops...), t.p} }

func (t pagedTxn) Commit() (*clientv3.TxnResponse, error) {
	response, err := t.Txn.Commit()
	if err != nil {
		return nil, err
	}
	n := 0
	for _, of := range response.Responses {
		n += len(of.GetResponseRange().Kvs)
	}
	t.p.values = append(t.p.values, n)
	t.p.read()
	return response, nil
}

// Tenants choose how many records there are, and how large.
func TestRecordsAreListedInPagesAtOneRevision(t *testing.T) {
	client := newTestClient(t)
	records := client.Records()
	var all, folders, ofFolders []string
	for i := range 100 {
		folder := fmt.Sprintf("use/n%03d", i)
		stored := &Transaction{Put: map[string][]byte{}}
		// Some have more than fit into a page of many folders.
		for j := range 1 + i%7 {
			name := fmt.Sprintf("%s/%d", folder, j)
			stored.Put[name] = []byte(name)
			all = append(all, name)
			if i%3 == 0 {
				ofFolders = append(ofFolders, name)
			}
		}
		if _, err := records.Commit(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			folders = append(folders, folder)
		}
	}
	if _, err := records.Commit(t.Context(), &Transaction{Put: map[string][]byte{"use/n000x/0": nil, "used": nil}}); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ folders, want []string }{
		{[]string{"use"}, append([]string{"use/n000x/0"}, all...)}, {append(folders, "use/none"), ofFolders}, {[]string{"use/none"}, nil}, {nil, nil},
	} {
		kv := client.client.KV
		later := 0
		p := &paged{KV: kv, read: func() {
			// What is written after the first page is not listed.
			if later++; len(row.want) > 0 {
				if _, err := kv.Put(t.Context(), recordKey("/registry", fmt.Sprintf("use/n099/later-%d-%d", len(row.folders), later)), ""); err != nil {
					t.Error(err)
				}
			}
		}}
		client.client.KV = p
		var got []string
		for entry, err := range client.Records().List(t.Context(), row.folders...) {
			if err != nil {
				t.Fatal(err)
			}
			if entry.Revision == 0 || entry.Name != "use/n000x/0" && string(entry.Value) != entry.Name {
				t.Fatalf("got %+v", entry)
			}
			got = append(got, entry.Name)
		}
		client.client.KV = kv
		if _, err := kv.Delete(t.Context(), recordKey("/registry", "use/n099/later"), clientv3.WithPrefix()); err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		slices.Sort(row.want)
		if !slices.Equal(got, row.want) {
			t.Errorf("of %d folders: got %d records, want %d", len(row.folders), len(got), len(row.want))
		}
		if len(p.values) > 0 && slices.Max(p.values) > pageSize {
			t.Errorf("of %d folders: pages of %v records", len(row.folders), p.values)
		}
	}
}
