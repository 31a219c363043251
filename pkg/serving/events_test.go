package serving

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clientgotesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// Annotations of 256 KiB are part of messages.
func TestMessagesOfEventsAreBounded(t *testing.T) {
	client := fake.NewClientset()
	messages := make(chan string, 2)
	client.PrependReactor("create", "events", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		event := action.(clientgotesting.CreateAction).GetObject().(*corev1.Event)
		messages <- event.Message
		return true, event, nil
	})
	events, stop := RecordEvents(t.Context(), client, scheme.Scheme, "test")
	defer stop()
	about := &corev1.ObjectReference{Kind: "Role", Namespace: "a", Name: "b"}
	long := strings.Repeat("x", 256<<10)
	events.Event(about, corev1.EventTypeWarning, "First", long)
	events.Eventf(about, corev1.EventTypeWarning, "Second", "annotation: %s", long)
	for range 2 {
		select {
		case message := <-messages:
			if len(message) > names.MaxText || !strings.Contains(message, "xxx") {
				t.Errorf("the message has %d bytes: %.40s", len(message), message)
			}
		case <-time.After(time.Minute):
			t.Fatal("no event")
		}
	}
}
