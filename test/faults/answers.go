package faults

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// status returns an answer as an API server encodes it.
func status(code int32, reason metav1.StatusReason) []byte {
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: code, Reason: reason, Message: "injected fault",
	})
	if err != nil {
		panic(err)
	}
	return body
}

// refuse answers a request that the server does not get.
func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(status(int32(code), reason)) //nolint:gosec // codes are small
}

// abort ends the connection, or the stream, of a request.
func abort(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }

// slowBody delays what is read.
type slowBody struct {
	io.ReadCloser
	ctx      context.Context
	incident incident
}

func (b *slowBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.incident.after(b.ctx)
	}
	return n, err
}
