package serving

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// RecordEvents returns the recorder of a component's events, about objects of the scheme, and a function that ends the
// recording. It continues after ctx has ended, because the last events come then.
func RecordEvents(ctx context.Context, client kubernetes.Interface, scheme *runtime.Scheme, component string) (record.EventRecorder, func()) {
	broadcaster := record.NewBroadcaster(record.WithContext(context.WithoutCancel(ctx)))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return boundedRecorder{broadcaster.NewRecorder(scheme, corev1.EventSource{Component: component})}, broadcaster.Shutdown
}

// boundedRecorder truncates messages, which may repeat what tenants have written: each is stored in the cluster, and the
// recorder keeps the last ones to count repetitions.
type boundedRecorder struct{ record.EventRecorder }

func (r boundedRecorder) Event(object runtime.Object, kind, reason, message string) {
	r.EventRecorder.Event(object, kind, reason, names.Truncate(message, names.MaxText))
}

func (r boundedRecorder) Eventf(object runtime.Object, kind, reason, format string, args ...any) {
	r.Event(object, kind, reason, fmt.Sprintf(format, args...))
}
