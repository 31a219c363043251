package suite

import (
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
)

// User is the clients of one user.
type User struct {
	kubernetes.Interface
	HNC     versioned.Interface
	Dynamic dynamic.Interface
	Config  *rest.Config
	Name    string
}

// NewUser returns the clients of a user. They have no rate limit.
func NewUser(name string, config *rest.Config) (User, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	u := User{Config: config, Name: name}
	var err error
	if u.Interface, err = kubernetes.NewForConfig(config); err != nil {
		return User{}, err
	}
	if u.HNC, err = versioned.NewForConfig(config); err != nil {
		return User{}, err
	}
	u.Dynamic, err = dynamic.NewForConfig(config)
	return u, err
}
