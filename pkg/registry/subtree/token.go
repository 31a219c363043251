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
	// Namespace is the first to read.
	Namespace string `json:"ns"`
	// Continue is kube-apiserver's own token if the namespace has been read in part.
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
