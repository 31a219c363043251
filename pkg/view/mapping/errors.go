package mapping

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Limits bound what one object may cost. The zero value stands for the defaults.
type Limits struct {
	// Depth is the number of levels of objects and lists in each other in a request: maxDepth by default. Responses may
	// have any: what is stored must not hide other objects.
	Depth int
	// Size is the size of one object in bytes: 16 MiB by default. Lists may have any size.
	Size int
}

// maxDepth is the default of Limits.Depth.
const maxDepth = 1000

func (l Limits) depth() int {
	if l.Depth == 0 {
		return maxDepth
	}
	return l.Depth
}

// MaxRequest is the size of a request's body that kube-apiserver accepts, in bytes. A translated one has no more, either.
const MaxRequest = 3 << 20

// request is the size of a request in bytes.
func (l Limits) request() int { return min(l.size(), MaxRequest) }

func (l Limits) size() int {
	if l.Size == 0 {
		return 16 << 20
	}
	return l.Size
}

func tooDeep(l Limits) error {
	return badRequest(nil, "the object has more than %d levels; use fewer", l.depth())
}

func tooLarge(limit int) error {
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("an object may have %d bytes, with the real names of namespaces", limit))
}

func unsupported(format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType,
		Reason: metav1.StatusReasonUnsupportedMediaType, Message: fmt.Sprintf(format, args...)}}
}

// badRequest returns an error of the API that names a field.
func badRequest(at *path, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	if at != nil {
		message = at.String() + ": " + message
	}
	return apierrors.NewBadRequest(message)
}

// path is the way to a field. It becomes text only in errors.
type path struct {
	parent *path
	name   string
	index  int
}

func (p *path) key(name string) *path { return &path{parent: p, name: name} }
func (p *path) at(index int) *path    { return &path{parent: p, index: index} }

func (p *path) String() string {
	if p == nil {
		return "body"
	}
	var b strings.Builder
	p.write(&b)
	return b.String()
}

func (p *path) write(b *strings.Builder) {
	if p.parent != nil {
		p.parent.write(b)
	}
	if p.name == "" {
		b.WriteString("[" + strconv.Itoa(p.index) + "]")
		return
	}
	if b.Len() > 0 {
		b.WriteByte('.')
	}
	b.WriteString(p.name)
}
