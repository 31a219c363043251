// Package clientconfig holds the settings that both servers use for their clients of kube-apiserver.
package clientconfig

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// SetDefaults disables the rate limit on the client's side, because the priority and fairness of kube-apiserver limits
// requests, and compression, which takes both sides more time than it saves on the network.
func SetDefaults(config *rest.Config) {
	config.QPS = -1
	config.DisableCompression = true
}

// Protobuf returns a copy of the configuration for clients of built-in kinds, which are cheaper to read and to write in
// protobuf.
func Protobuf(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
	return config
}
