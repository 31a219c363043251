package chaos

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
)

// clients are the administrator's.
type clients struct {
	kubernetes.Interface
	hnc versioned.Interface
	// refused counts the attempts that the servers did not carry out. client-go repeats some of them, so that requests
	// fail less often.
	refused failures
}

func newClients(config *rest.Config) (*clients, error) {
	c := &clients{}
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &attempts{next: next, refused: &c.refused} })
	var err error
	if c.Interface, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	c.hnc, err = versioned.NewForConfig(config)
	return c, err
}

// repeated ends the reasons of attempts that client-go repeats, up to ten times.
const repeated = " with Retry-After"

// attempts counts attempts that get no response, or one that says that the server cannot respond.
type attempts struct {
	next    http.RoundTripper
	refused *failures
}

// RoundTrip sends one attempt.
func (a *attempts) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := a.next.RoundTrip(request)
	switch {
	case err != nil:
		a.refused.count(unanswered)
	case response.StatusCode == http.StatusTooManyRequests || response.StatusCode >= http.StatusInternalServerError:
		reason := strconv.Itoa(response.StatusCode)
		// client-go ignores dates.
		if _, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
			reason += repeated
		} else if message := message(response); message != "" {
			reason += ": " + message
		}
		a.refused.count(reason)
	}
	return response, err
}

// message returns what a Status in JSON says, "" for any other body.
func message(response *http.Response) string {
	body, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	status := metav1.Status{}
	if err != nil || json.Unmarshal(body, &status) != nil {
		return ""
	}
	return status.Message
}

// WrappedRoundTripper lets client-go find the transport below.
func (a *attempts) WrappedRoundTripper() http.RoundTripper { return a.next }

// rollingRefusals returns an error unless all that was refused since then is what a replica that stops may refuse: 429
// or 503 that client-go repeats.
func (c *clients) rollingRefusals(since map[string]int) error {
	var errs []error
	for reason, n := range c.refused.since(since) {
		if reason != "429"+repeated && reason != "503"+repeated {
			errs = append(errs, fmt.Errorf("%d times %s", n, reason))
		}
	}
	return errors.Join(errs...)
}
