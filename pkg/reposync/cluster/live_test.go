package cluster

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

func TestOnlyAnnotationsOfTheRepositoryDetach(t *testing.T) {
	const owned = `{"f:metadata":{"f:annotations":{"f:client.lifecycle.config.k8s.io/deletion":{}}}}`
	for name, c := range map[string]struct {
		fields, value string
		want          bool
	}{
		"the repository's":    {owned, "detach", true},
		"somebody else's":     {`{"f:metadata":{"f:annotations":{"f:hnc.x-k8s.io/source-path":{}}}}`, "detach", false},
		"a label":             {`{"f:metadata":{"f:labels":{"f:client.lifecycle.config.k8s.io/deletion":{}}}}`, "detach", false},
		"another value":       {owned, "delete", false},
		"no fields are owned": {"", "detach", false},
	} {
		m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"client.lifecycle.config.k8s.io/deletion": c.value}}}
		if c.fields != "" {
			m.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "hns-sync-a", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(c.fields)}}
		}
		if got := (&Cluster{sync: "a"}).liveOf(m).Detached; got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// TestValuesWrittenAsTheFieldManagerAreDrift has another client write the same fields as the field manager, at another
// time.
func TestValuesWrittenAsTheFieldManagerAreDrift(t *testing.T) {
	at := func(second int64) uint64 {
		when := metav1.NewTime(time.Unix(second, 0))
		m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "hns-sync-a", Operation: metav1.ManagedFieldsOperationApply, Time: &when, FieldsV1: metav1.NewFieldsV1("{}")},
		}}}
		return (&Cluster{sync: "a"}).liveOf(m).Owned
	}
	if first, again := at(1), at(1); first != again || first == at(2) {
		t.Errorf("got %d, %d, %d", at(1), at(1), at(2))
	}
}

// TestRestoredFieldManagersAreDrift has another client change a field, and then restore the entry of the field manager,
// before anybody looks.
func TestRestoredFieldManagersAreDrift(t *testing.T) {
	c, err := New(&rest.Config{}, &rest.Config{}, "a", func() {})
	if err != nil {
		t.Fatal(err)
	}
	o := &plan.Object{ID: plan.ID{Kind: schema.GroupKind{Kind: "ConfigMap"}, Namespace: "shop", Name: "policy"}, Hash: 1}
	drifts := func() bool { return len(plan.Compute([]*plan.Object{o}, c.State(), true).Drifted) > 0 }
	c.record(o, plan.Live{UID: "u", Version: 1, Owned: 7})
	c.put(o.ID, plan.Live{UID: "u", Version: 2, Owned: 7, Managed: 2})
	if drifts() {
		t.Error("a change of what others own is drift")
	}
	c.put(o.ID, plan.Live{UID: "u", Version: 3, Owned: 8, Managed: 3})
	c.put(o.ID, plan.Live{UID: "u", Version: 4, Owned: 7, Managed: 4})
	if !drifts() {
		t.Error("the change is not seen")
	}
	c.record(o, plan.Live{UID: "u", Version: 5, Owned: 9})
	if drifts() {
		t.Error("it is not corrected")
	}
	c.remove(o.ID, plan.Live{UID: "u", Version: 6})
	c.put(o.ID, plan.Live{UID: "u", Version: 7, Owned: 9})
	if !drifts() {
		t.Error("the removal of the label is not seen")
	}
}

// TestChangesWithoutATraceAreDrift has another client send entries of field managers that the API server cannot process,
// so that it stores the change and keeps the entries.
func TestChangesWithoutATraceAreDrift(t *testing.T) {
	o := &plan.Object{ID: plan.ID{Kind: schema.GroupKind{Kind: "ConfigMap"}, Namespace: "shop", Name: "policy"}, Hash: 1}
	version := func(version, managed uint64) plan.Live {
		return plan.Live{UID: "u", Version: version, Owned: 7, Managed: managed}
	}
	for name, test := range map[string]struct {
		then  func(*Cluster) bool
		drift bool
	}{
		"nothing":                    {func(c *Cluster) bool { return c.put(o.ID, version(10, 1)) }, false},
		"what others own":            {func(c *Cluster) bool { return c.put(o.ID, version(11, 2)) }, false},
		"no trace":                   {func(c *Cluster) bool { return c.put(o.ID, version(11, 1)) }, true},
		"no trace, then another one": {func(c *Cluster) bool { return c.put(o.ID, version(11, 1)) && !c.put(o.ID, version(12, 2)) }, true},
		"no trace, before the result of applying it is known": {func(c *Cluster) bool {
			drifts := c.put(o.ID, version(12, 1)) && c.put(o.ID, version(13, 1))
			c.record(o, version(12, 1))
			return drifts
		}, true},
		"no trace, corrected": {func(c *Cluster) bool {
			drifts := c.put(o.ID, version(11, 1))
			c.record(o, version(12, 3))
			return drifts && c.put(o.ID, version(12, 3))
		}, false},
		"no trace, and nothing to correct": {func(c *Cluster) bool {
			drifts := c.put(o.ID, version(11, 1))
			c.record(o, version(11, 1))
			return drifts && c.put(o.ID, version(12, 2))
		}, false},
		"a list without the versions before": {func(c *Cluster) bool { c.beginList(o.Kind, "10"); return c.put(o.ID, version(12, 2)) }, true},
		"an event from before the list":      {func(c *Cluster) bool { c.beginList(o.Kind, "11"); return c.put(o.ID, version(11, 2)) }, false},
		"an event from before the list, and the list": {func(c *Cluster) bool {
			c.beginList(o.Kind, "11")
			return !c.put(o.ID, version(11, 2)) && c.put(o.ID, version(13, 3))
		}, true},
		"a second change after the list": {func(c *Cluster) bool {
			c.beginList(o.Kind, "10")
			first := c.put(o.ID, version(12, 2))
			c.record(o, version(12, 2))
			return !first || c.put(o.ID, version(13, 3))
		}, false},
		"a list that another one has changed since the result": {func(c *Cluster) bool {
			c.beginList(o.Kind, "10")
			c.record(o, version(12, 2))
			return c.put(o.ID, version(14, 4))
		}, true},
	} {
		c, err := New(&rest.Config{}, &rest.Config{}, "a", func() {})
		if err != nil {
			t.Fatal(err)
		}
		c.record(o, version(10, 1))
		c.put(o.ID, version(10, 1))
		wakes := test.then(c)
		if got := len(plan.Compute([]*plan.Object{o}, c.State(), true).Drifted) > 0; got != test.drift || wakes != got {
			t.Errorf("%s: drift is %t, want %t, and the worker wakes: %t", name, got, test.drift, wakes)
		}
	}
}

// TestEntriesInAnotherVersionAreDrift has another client write the entry of the field manager in another API version,
// in which the fields have other names.
func TestEntriesInAnotherVersionAreDrift(t *testing.T) {
	in := func(version string) uint64 {
		m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "hns-sync-a", Operation: metav1.ManagedFieldsOperationApply, APIVersion: version, FieldsV1: metav1.NewFieldsV1("{}")},
		}}}
		return (&Cluster{sync: "a"}).liveOf(m).Owned
	}
	if first, again := in("v1"), in("v1"); first != again || first == in("v2") {
		t.Errorf("got %d, %d, %d", first, again, in("v2"))
	}
}

// TestResultsDoNotHideWhatTheWatchHasBrought has the watch bring what other clients have done with an object before the
// result of applying it is recorded.
func TestResultsDoNotHideWhatTheWatchHasBrought(t *testing.T) {
	o := &plan.Object{ID: plan.ID{Kind: schema.GroupKind{Kind: "ConfigMap"}, Namespace: "shop", Name: "policy"}, Hash: 1}
	other := plan.ID{Kind: o.Kind, Namespace: "shop", Name: "other"}
	version := func(version, owned uint64) plan.Live {
		return plan.Live{UID: "u", Version: version, Owned: owned, Managed: version}
	}
	for name, test := range map[string]struct {
		watch func(*Cluster)
		drift bool
	}{
		"nothing":                {func(*Cluster) {}, false},
		"the result":             {func(c *Cluster) { c.put(o.ID, version(10, 7)) }, false},
		"what others own":        {func(c *Cluster) { c.put(o.ID, version(10, 7)); c.put(o.ID, version(11, 7)) }, false},
		"another object":         {func(c *Cluster) { c.put(o.ID, version(10, 7)); c.put(other, version(11, 7)) }, false},
		"an earlier deletion":    {func(c *Cluster) { c.put(o.ID, version(8, 7)); c.remove(o.ID, version(9, 7)) }, false},
		"a deletion":             {func(c *Cluster) { c.put(o.ID, version(10, 7)); c.remove(o.ID, version(11, 7)) }, true},
		"a deletion not watched": {func(c *Cluster) { c.put(o.ID, version(10, 7)); c.remove(o.ID, version(0, 7)) }, true},
		"a change":               {func(c *Cluster) { c.put(o.ID, version(10, 7)); c.put(o.ID, version(11, 8)) }, true},
		"a change that is hidden again": {func(c *Cluster) {
			c.put(o.ID, version(10, 7))
			c.put(o.ID, version(11, 8))
			c.put(o.ID, version(12, 7))
		}, true},
		"a label that was removed": {func(c *Cluster) {
			c.put(o.ID, version(10, 7))
			c.remove(o.ID, version(11, 7))
			c.put(o.ID, version(12, 7))
		}, true},
	} {
		c, err := New(&rest.Config{}, &rest.Config{}, "a", func() {})
		if err != nil {
			t.Fatal(err)
		}
		test.watch(c)
		c.record(o, version(10, 7))
		if got := len(plan.Compute([]*plan.Object{o}, c.State(), true).Drifted) > 0; got != test.drift {
			t.Errorf("%s: drift is %t, want %t", name, got, test.drift)
		}
	}
}
