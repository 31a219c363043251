package ui

import (
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

//go:embed dist
var dist embed.FS

// changesPath is the only address of writes.
const (
	changesPath    = "/api/namespaces/{namespace}/changes"
	maxChangeBytes = 4 << 10
)

// routes returns the handler behind the guard.
func routes(reader Reader) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/session", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, reader.Session()) })
	mux.HandleFunc("GET /api/forest", answer(reader, func(r *http.Request) (any, error) { return reader.Forest(r.Context()) }))
	mux.HandleFunc("GET /api/namespaces/{namespace}", answer(reader, func(r *http.Request) (any, error) {
		return reader.Namespace(r.Context(), r.PathValue("namespace"))
	}))
	mux.HandleFunc("GET /api/namespaces/{namespace}/objects/{resource}", answer(reader, func(r *http.Request) (any, error) {
		return reader.Objects(r.Context(), r.PathValue("namespace"), r.PathValue("resource"))
	}))
	mux.HandleFunc("GET /api/namespaces/{namespace}/objects/{resource}/{name}", answer(reader, func(r *http.Request) (any, error) {
		return reader.Explain(r.Context(), r.PathValue("namespace"), r.PathValue("resource"), r.PathValue("name"))
	}))
	mux.HandleFunc("GET /api/namespaces/{namespace}/objects/{resource}/{name}/content", answer(reader, func(r *http.Request) (any, error) {
		return reader.Content(r.Context(), r.PathValue("namespace"), r.PathValue("resource"), r.PathValue("name"))
	}))
	mux.HandleFunc("GET /api/namespaces/{namespace}/events", answer(reader, func(r *http.Request) (any, error) {
		return reader.Events(r.Context(), r.PathValue("namespace"))
	}))
	mux.HandleFunc("GET /api/mine", answer(reader, func(r *http.Request) (any, error) { return reader.Mine(r.Context()) }))
	mux.HandleFunc("GET /api/namespaces/{namespace}/access", answer(reader, func(r *http.Request) (any, error) {
		return reader.Access(r.Context(), r.PathValue("namespace"), r.FormValue("verb"), r.FormValue("resource"))
	}))
	mux.HandleFunc("GET /api/quotas", answer(reader, func(r *http.Request) (any, error) { return reader.Quotas(r.Context()) }))
	mux.HandleFunc("GET /api/administration", answer(reader, func(r *http.Request) (any, error) { return reader.Administration(r.Context()) }))
	mux.HandleFunc("GET /api/checks", answer(reader, func(r *http.Request) (any, error) { return reader.Checks(r.Context()) }))
	mux.HandleFunc("GET /api/namespaces/{namespace}/plan", answer(reader, func(r *http.Request) (any, error) {
		return plan(r, reader, Change{
			Kind: ChangeKind(r.FormValue("change")), Parent: r.FormValue("parent"), Child: r.FormValue("child"), Resource: r.FormValue("resource"), Mode: r.FormValue("mode"),
		})
	}))
	mux.HandleFunc("POST "+changesPath, answer(reader, func(r *http.Request) (any, error) {
		var change Change
		decoder := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxChangeBytes))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&change); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		now, err := plan(r, reader, change)
		if err != nil {
			return nil, err
		}
		if now.Digest != change.Plan {
			return nil, ErrPlanChanged
		}
		return struct{}{}, reader.Apply(r.Context(), r.PathValue("namespace"), change, now.Subnamespace)
	}))
	mux.HandleFunc("GET /api/changes", changes(reader))
	mux.HandleFunc("GET /api/", func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, http.StatusNotFound, Problem{Title: "There is no such data"})
	})
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	for _, name := range []string{"app.js", "app.css", "icon.svg"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, name) })
	}
	// Every other address is one of a page, which the script draws.
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		http.ServeFileFS(w, r, files, "page.html")
	})
	return mux
}

// plan returns the plan of a change of the request's namespace, with its digest.
func plan(r *http.Request, reader Reader, change Change) (*Plan, error) {
	p, err := reader.Plan(r.Context(), r.PathValue("namespace"), change)
	if err != nil {
		return nil, err
	}
	p.Digest, err = digest(*p)
	return p, err
}

// digest identifies the content of a plan that a user decides by. It leaves out current use, and why something is
// unknown, which may change at any time.
func digest(p Plan) (string, error) {
	p.Status = *p.Status.DeepCopy()
	for i := range p.Status.ExceededQuotas {
		p.Status.ExceededQuotas[i].Used = ""
	}
	for i := range p.Status.Namespaces {
		for j := range p.Status.Namespaces[i].Quotas {
			p.Status.Namespaces[i].Quotas[j].Planned = 0
		}
	}
	for i, text := range p.Status.Unknown {
		p.Status.Unknown[i], _, _ = strings.Cut(text, ": ")
	}
	text, err := json.Marshal(&p)
	return fmt.Sprintf("%x", sha256.Sum256(text)), err
}

// ErrPlanChanged is the answer to a change that would no longer do what was shown.
var ErrPlanChanged error = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: http.StatusConflict, Reason: metav1.StatusReasonConflict, Message: "what the change would do is not what was shown",
}}

// answer returns a handler that writes what read returns, as JSON.
func answer(reader Reader, read func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if why := invalidNames(r); why != "" {
			writeError(w, http.StatusBadRequest, Problem{Title: "The address names no namespace or object", Detail: why})
			return
		}
		data, err := read(r)
		if err != nil {
			problem := reader.Problem(err)
			status := http.StatusBadGateway
			if code := statusCode(err); code != 0 {
				status = code
			}
			writeError(w, status, problem)
			return
		}
		writeJSON(w, http.StatusOK, data)
	}
}

// invalidNames returns what is wrong with the names in the path of a request. They become parts of paths of the API.
func invalidNames(r *http.Request) string {
	if namespace := r.PathValue("namespace"); namespace != "" {
		if why := validation.ValidateNamespaceName(namespace, false); len(why) > 0 {
			return why[0]
		}
	}
	for _, part := range []string{"resource", "name"} {
		if why := content.IsPathSegmentName(r.PathValue(part)); len(why) > 0 {
			return why[0]
		}
	}
	return ""
}

// The pauses between messages of a stream of changes: changes that follow each other are reported together, and a
// message in between shows that the connection is alive.
const (
	changesPause    = 500 * time.Millisecond
	heartbeatPeriod = 10 * time.Second
)

// changes returns a handler that writes a line "changed" once the watch has begun and after changes in the cluster,
// then an empty one regularly, until the watch ends.
func changes(reader Reader) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		changed, ended := make(chan struct{}, 1), make(chan struct{})
		go func() {
			defer close(ended)
			// The page reads again when the stream ends, and shows why it cannot.
			_ = reader.Watch(r.Context(), func() {
				select {
				case changed <- struct{}{}:
				default:
				}
			})
		}()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		stream := http.NewResponseController(w)
		write := func(line string) bool {
			_, err := w.Write([]byte(line + "\n"))
			return err == nil && stream.Flush() == nil
		}
		var heartbeat <-chan time.Time
		for alive := true; alive; {
			select {
			case <-r.Context().Done():
				return
			case <-ended:
				return
			case <-heartbeat:
				alive = write("")
				heartbeat = time.After(heartbeatPeriod)
			case <-changed:
				alive = write("changed") && pause(r, changesPause)
				heartbeat = time.After(heartbeatPeriod)
			}
		}
	}
}

// pause waits, and reports whether the request still lasts.
func pause(r *http.Request, d time.Duration) bool {
	select {
	case <-r.Context().Done():
		return false
	case <-time.After(d):
		return true
	}
}

func writeError(w http.ResponseWriter, status int, problem Problem) { writeJSON(w, status, problem) }

// writeJSON writes a value, or an error if JSON cannot express it.
func writeJSON(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		writeError(w, http.StatusInternalServerError, Problem{Title: "The answer cannot be written as JSON", Detail: err.Error()})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // an error means that the browser has gone
}

// statusCode returns the HTTP status of an error of the API, 0 of any other.
func statusCode(err error) int {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return int(status.Status().Code)
	}
	return 0
}
