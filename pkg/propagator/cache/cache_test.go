package cache

import (
	"slices"
	"testing"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// A writer waits no longer than a read holds the lock: it comes after the name that takes long.
func TestReadsOfManyNamesLetWritersIn(t *testing.T) {
	c := New(Config{Managed: managedkeys.Default()})
	var order []string
	written := make(chan struct{})
	visit := func(*State) func(string) {
		return func(name string) {
			order = append(order, name)
			if name != "slow" {
				return
			}
			go c.Update(func(*State) {
				order = append(order, "write")
				close(written)
			})
			time.Sleep(hold)
		}
	}
	left := c.ReadSome([]string{"first", "slow", "last"}, visit)
	if !slices.Equal(left, []string{"last"}) {
		t.Fatalf("%v are left", left)
	}
	<-written
	if left = c.ReadSome(left, visit); len(left) > 0 || !slices.Equal(order, []string{"first", "slow", "write", "last"}) {
		t.Errorf("%v are left, after %v", left, order)
	}
}
