package subtree

import (
	"encoding/base64"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// continueToken is the position of the next page of a list.
type continueToken struct {
	// ResourceVersion is the revision of all pages.
	ResourceVersion string `json:"rv"`
	// After is the namespace that was read last.
	After string `json:"ns"`
	// Continue is kube-apiserver's token for the rest of that namespace. A forged token cannot reach another
	// namespace.
	Continue string `json:"c,omitempty"`
	// Size is the number of objects that are read at a time: fewer once these have exceeded the memory. 0 is the default.
	// It is a hint, which clients can forge: memory is the limit.
	Size int64 `json:"n,omitempty"`
}

// in returns kube-apiserver's token for a namespace.
func (t continueToken) in(namespace string) string {
	if namespace != t.After {
		return ""
	}
	return t.Continue
}

func (t continueToken) String() string {
	raw, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings always marshal
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// parseContinueToken decodes the parameter continue.
func parseContinueToken(s string) (continueToken, error) {
	var t continueToken
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(raw, &t)
	}
	if err != nil {
		return continueToken{}, apierrors.NewBadRequest("continue: invalid token; omit it to start from the beginning")
	}
	return t, nil
}
