package subtree

import (
	"encoding/base64"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// token says where the next page of a list begins.
type token struct {
	// ResourceVersion is the revision of all pages.
	ResourceVersion string `json:"rv"`
	// After is the namespace that was read last.
	After string `json:"ns"`
	// Continue is kube-apiserver's own token if it was read in part. It can't lead out of a namespace, whoever wrote it.
	Continue string `json:"c,omitempty"`
}

func (t token) String() string {
	raw, err := json.Marshal(t)
	if err != nil {
		panic(err) // a struct of strings
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// parse reads the parameter continue.
func parse(s string) (token, error) {
	var t token
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(raw, &t)
	}
	if err != nil {
		return token{}, apierrors.NewBadRequest("continue: this is none of our tokens; leave it out to start from the beginning")
	}
	return t, nil
}
