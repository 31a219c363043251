package controlplane

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"
)

// Metrics returns the samples of a process by the names of their metrics, with their labels.
func (cp *ControlPlane) Metrics(ctx context.Context, process string) (map[string]float64, error) {
	port, err := cp.Port(process)
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(cp.RESTConfig())
	if err != nil {
		return nil, err
	}
	return Metrics(ctx, client, fmt.Sprintf("https://127.0.0.1:%d/metrics", port))
}

// Metrics returns the samples at a URL.
func Metrics(ctx context.Context, client *http.Client, url string) (map[string]float64, error) {
	body, err := Get(ctx, client, url)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	samples, lines := map[string]float64{}, bufio.NewScanner(body)
	for lines.Scan() {
		at := strings.LastIndexByte(lines.Text(), ' ')
		if at < 0 || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		if samples[lines.Text()[:at]], err = strconv.ParseFloat(lines.Text()[at+1:], 64); err != nil {
			return nil, err
		}
	}
	return samples, lines.Err()
}

// Get returns the body of a successful answer.
func Get(ctx context.Context, client *http.Client, url string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("%s answers %s", url, response.Status), response.Body.Close())
	}
	return response.Body, nil
}
