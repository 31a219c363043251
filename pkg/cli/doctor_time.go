package cli

import (
	"context"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// ServerTime returns the time of kube-apiserver, to the second; that of this machine if it is not known.
func (f *Factory) ServerTime(ctx context.Context) (time.Time, error) {
	now, err := f.date(ctx, "version")
	if err == nil && now.IsZero() {
		now = time.Now()
	}
	return now, err
}

// date returns the time at which the server of a path answers, to the second; zero if that is not known, because a
// proxy may leave the header out, or because the server does not answer with success.
func (f *Factory) date(ctx context.Context, path ...string) (time.Time, error) {
	config, err := f.Flags.ToRESTConfig()
	if err != nil {
		return time.Time{}, err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return time.Time{}, err
	}
	url, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return time.Time{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url.JoinPath(path...).String(), http.NoBody)
	if err != nil {
		return time.Time{}, err
	}
	response, err := client.Do(request)
	if err != nil {
		return time.Time{}, err
	}
	defer func() { _ = response.Body.Close() }()
	date, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil || response.StatusCode != http.StatusOK {
		return time.Time{}, nil
	}
	return date, nil
}
