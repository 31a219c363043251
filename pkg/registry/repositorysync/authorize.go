package repositorysync

import (
	"context"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
)

// authorize requires the permissions that hns-sync uses for the requester.
//
//   - The author of a spec decides what is applied as the ServiceAccount, so every change of the spec requires the permission to impersonate that
//     account, including changes of the source alone.
//   - A new account deletes what the old one has applied, so the permission to impersonate the old account is required, too.
//   - hns-sync presents the Secret to the server that the spec names, so a spec with a Secret requires the permission to get it.
func authorize(ctx context.Context, reviews authorizer.Authorizer, s, old *hnc.RepositorySync) error {
	if old != nil && apiequality.Semantic.DeepEqual(s.Spec, old.Spec) {
		return nil
	}
	accounts := []hnc.ServiceAccountReference{s.Spec.ServiceAccount}
	if old != nil && old.Spec.ServiceAccount != s.Spec.ServiceAccount {
		accounts = append(accounts, old.Spec.ServiceAccount)
	}
	for _, account := range accounts {
		user, allowed, err := accessreview.Requester(ctx, reviews, authorizer.AttributesRecord{
			Verb: "impersonate", APIVersion: "*", Resource: "serviceaccounts", Namespace: account.Namespace, Name: account.Name,
		})
		if err != nil {
			return err
		}
		if !allowed {
			return forbidden(s, fmt.Errorf("spec.serviceAccount: user %q may not act as the ServiceAccount %q in namespace %q; "+
				"this needs the verb impersonate on it", user, account.Name, account.Namespace))
		}
	}
	if s.Spec.Source.SecretName == "" {
		return nil
	}
	namespace := s.Spec.ServiceAccount.Namespace
	user, allowed, err := accessreview.Requester(ctx, reviews, authorizer.AttributesRecord{
		Verb: "get", APIVersion: "*", Resource: "secrets", Namespace: namespace, Name: s.Spec.Source.SecretName,
	})
	if err != nil || allowed {
		return err
	}
	return forbidden(s, fmt.Errorf("spec.source.secretName: user %q may not read the Secret %q in namespace %q; this needs the verb get on it",
		user, s.Spec.Source.SecretName, namespace))
}

func forbidden(s *hnc.RepositorySync, err error) error {
	return apierrors.NewForbidden(hnc.Resource("repositorysyncs"), s.Name, err)
}
