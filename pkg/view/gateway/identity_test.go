package gateway

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/transport"
)

func TestAnIdentityIsKeptCompletely(t *testing.T) {
	robot := "system:serviceaccount:acme:robot"
	for name, test := range map[string]struct {
		user user.DefaultInfo
		want transport.ImpersonationConfig
	}{
		"a user": {
			user.DefaultInfo{Name: "jane", UID: "1", Groups: []string{"dev", "system:authenticated"}, Extra: map[string][]string{"example.com/team": {"a", "b"}}},
			transport.ImpersonationConfig{UserName: "jane", UID: "1", Groups: []string{"dev", "system:authenticated"}, Extra: map[string][]string{"example.com/team": {"a", "b"}}},
		},
		"a harmless key": {
			user.DefaultInfo{Name: "jane", Extra: map[string][]string{"trace": {"x"}}},
			transport.ImpersonationConfig{UserName: "jane", Extra: map[string][]string{}},
		},
		"a ServiceAccount": {
			user.DefaultInfo{Name: robot, UID: "2", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:acme", "system:authenticated"},
				Extra: map[string][]string{"authentication.kubernetes.io/credential-id": {"JTI=1"}, "authentication.kubernetes.io/pod-name": {"p"}}},
			transport.ImpersonationConfig{UserName: robot},
		},
	} {
		got, err := impersonation(&test.user, sets.New("trace"))
		if err != nil || !reflect.DeepEqual(*got, test.want) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func TestAnIdentityThatWouldLoseARestrictionIsRefused(t *testing.T) {
	robot := "system:serviceaccount:acme:robot"
	for name, test := range map[string]struct {
		user user.DefaultInfo
		want string
	}{
		"nobody":                        {user.DefaultInfo{}, "anonymous"},
		"anonymous":                     {user.DefaultInfo{Name: "system:anonymous", Groups: []string{"system:unauthenticated"}}, "anonymous"},
		"an administrator":              {user.DefaultInfo{Name: "root", Groups: []string{"system:masters"}}, "system:masters"},
		"a node":                        {user.DefaultInfo{Name: "system:node:a", Groups: []string{"system:nodes"}}, "nodes"},
		"scopes":                        {user.DefaultInfo{Name: "jane", Extra: map[string][]string{"scopes": {"read"}}}, `"scopes"`},
		"upper case":                    {user.DefaultInfo{Name: "jane", Extra: map[string][]string{"example.com/Scopes": {"read"}}}, `"example.com/Scopes"`},
		"an empty value":                {user.DefaultInfo{Name: "jane", Extra: map[string][]string{"example.com/scopes": {""}}}, `"example.com/scopes"`},
		"no value":                      {user.DefaultInfo{Name: "jane", Extra: map[string][]string{"example.com/scopes": {}}}, `"example.com/scopes"`},
		"a name in spaces":              {user.DefaultInfo{Name: " jane"}, "begins or ends with a space"},
		"a UID in spaces":               {user.DefaultInfo{Name: "jane", UID: "1 "}, "begins or ends with a space"},
		"a group in spaces":             {user.DefaultInfo{Name: "jane", Groups: []string{"dev", "ops\t"}}, "begins or ends with a space"},
		"a name in two lines":           {user.DefaultInfo{Name: "jane\ndoe"}, "control character"},
		"a value in spaces":             {user.DefaultInfo{Name: "jane", Extra: map[string][]string{"example.com/scopes": {"read", "write "}}}, `"example.com/scopes"`},
		"an account with scopes":        {user.DefaultInfo{Name: robot, Extra: map[string][]string{"example.com/scopes": {"read"}}}, `"example.com/scopes"`},
		"a token for a webhook":         {user.DefaultInfo{Name: robot, Extra: map[string][]string{"attestation.authentication.kubernetes.io/x": {"y"}}}, `"attestation`},
		"an account in another's group": {user.DefaultInfo{Name: robot, Groups: []string{"system:serviceaccounts:other"}}, "system:serviceaccounts:other"},
	} {
		got, err := impersonation(&test.user, sets.New("trace"))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}
