package mapping

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// maxDepth is the number of levels of objects and lists in each other in a request. Responses may have any: what is stored
// must not hide other objects.
const maxDepth = yamlbody.MaxLevels

// MaxRequest is the size of a request's body that kube-apiserver accepts, in bytes. A translated one has no more, either.
// maxObject is that of one object in a response. Lists may have any size.
const MaxRequest, maxObject = 3 << 20, 16 << 20

func tooDeep(most int) error {
	return badRequest(nil, "the object has more than %d levels; use fewer", most)
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
