package model

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
)

// history is what a user has written to one name, and possible results of writes that were refused after an earlier try
// without an answer.
type history struct {
	// accepted is the time of the last answer that accepted a write.
	accepted time.Time
	// unconfirmed are the values that may have replaced the accepted one, ever all values.
	unconfirmed, ever map[string]bool
	// removed reports that the user may have deleted the object.
	removed bool
}

// note records an operation on an object. repeated reports that an earlier try may have been carried out.
func (c *client) note(o operation, accepted, repeated bool) {
	k := key{o.kind, o.space, o.name}
	h := c.histories[k]
	if h == nil {
		h = &history{unconfirmed: map[string]bool{}, ever: map[string]bool{}}
		c.histories[k] = h
	}
	switch {
	case o.verb == put && accepted:
		h.accepted, h.unconfirmed, h.removed = time.Now(), map[string]bool{}, false
		h.ever[o.source.value] = true
	case o.verb == put && repeated:
		h.unconfirmed[o.source.value], h.ever[o.source.value] = true, true
	case o.verb == remove && repeated:
		h.removed = true
	}
}

// fate is what became of the content of a user's object that is not there any more.
type fate string

const (
	// kept is content that a record contains.
	kept fate = "kept"
	// later is content that was written after the record of an earlier overwrite, which the first overwrite creates and
	// no other replaces.
	later fate = "written after the record"
	// deleted is content that the user may have deleted: a deletion without an answer was repeated.
	deleted fate = "possibly deleted by its user"
)

// fate returns an error if there is no record of the value and no reason for that. record is nil if there is none.
func (h *history) fate(content string, record *v1alpha3.OverwrittenObject) (fate, error) {
	if record == nil {
		if h.removed {
			return deleted, nil
		}
		return "", fmt.Errorf("%s is lost without a record", content)
	}
	var u unstructured.Unstructured
	if err := json.Unmarshal([]byte(record.Spec.Manifest), &u.Object); err != nil {
		return "", err
	}
	stored := value(&u)
	switch {
	case stored == content || h.unconfirmed[stored]:
		return kept, nil
	case h.ever[stored] && !record.CreationTimestamp.After(h.accepted):
		return later, nil
	case h.ever[stored] && h.removed:
		return deleted, nil
	}
	return "", fmt.Errorf("%s, accepted at %s, is lost: the record of %s contains %s", content, h.accepted, record.CreationTimestamp, stored)
}

// fateOf returns what became of an object that is not there any more.
func (c *client) fateOf(ctx context.Context, k key, s source) (fate, error) {
	name := hnc.OverwrittenName(resources[k.kind].GroupResource(), k.name)
	var record *v1alpha3.OverwrittenObject
	err := c.try(ctx, "reading a record", func() (err error) {
		record, err = c.HNC.HncV1alpha3().OverwrittenObjects(c.full(k.space)).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			record, err = nil, nil
		}
		return err
	}, nil)
	if err != nil {
		return "", err
	}
	f, err := c.histories[k].fate(s.value, record)
	if err != nil {
		return "", fmt.Errorf("%v: %w", k, err)
	}
	return f, nil
}

// overwritten describes the objects that are not there any more.
func (c *client) overwritten() string {
	return fmt.Sprintf("overwritten: %d with a record, %d written after the record, %d possibly deleted by the user; %d of them in doubt",
		c.fates[kept], c.fates[later], c.fates[deleted], c.doubtful)
}

func TestContentIsKeptOnlyByItsRecord(t *testing.T) {
	accepted := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	record := func(value string, age time.Duration) *v1alpha3.OverwrittenObject {
		return &v1alpha3.OverwrittenObject{
			ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(accepted.Add(-age))},
			Spec:       v1alpha3.OverwrittenObjectSpec{Manifest: fmt.Sprintf(`{"kind":"ConfigMap","data":{"value":%q}}`, value)},
		}
	}
	written := history{accepted: accepted, unconfirmed: map[string]bool{"v3": true}, ever: map[string]bool{"v1": true, "v2": true, "v3": true}}
	removed := written
	removed.removed = true
	for name, test := range map[string]struct {
		history
		record *v1alpha3.OverwrittenObject
		want   fate
	}{
		"no record":                           {written, nil, ""},
		"no record, possibly deleted":         {removed, nil, deleted},
		"its record":                          {written, record("v2", -time.Second), kept},
		"the record of an unconfirmed write":  {written, record("v3", -time.Second), kept},
		"an earlier record":                   {written, record("v1", time.Second), later},
		"a later record with another content": {written, record("v1", -time.Second), ""},
		"the same, possibly deleted":          {removed, record("v1", -time.Second), deleted},
		"a record of nothing that it was":     {removed, record("x", time.Second), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := test.fate("v2", test.record); got != test.want || (err == nil) != (got != "") {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}
