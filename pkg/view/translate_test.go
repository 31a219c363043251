package view

import "testing"

func TestAccept(t *testing.T) {
	for accept, want := range map[string]string{
		"":                                    "application/json",
		"*/*":                                 "*/*,application/json",
		"application/json":                    "application/json",
		"application/vnd.kubernetes.protobuf": "application/json",
		"application/json;as=Table;v=v1;g=meta.k8s.io":                        "application/json;as=Table;v=v1;g=meta.k8s.io",
		"application/json;as=Table;v=v1;g=meta.k8s.io, application/json":      "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
		"application/json;as=Table;v=v1;g=meta.k8s.io,application/cbor":       "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
		"application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,*/*": "*/*,application/json",
	} {
		if got := jsonAccept([]string{accept}); got != want {
			t.Errorf("%q: got %q, want %q", accept, got, want)
		}
	}
}
