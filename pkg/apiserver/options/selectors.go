package options

import (
	"context"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// maxReviewedSelector bounds the text of selectors in a review, in bytes.
const maxReviewedSelector = 1 << 10

// withoutLargeSelectors has requests with large selectors reviewed without them. Reviews are cached by their text, of
// which selectors are the only part that is not bounded. Without them the question is broader, so nothing is allowed
// that is not allowed with them; RBAC ignores selectors.
func withoutLargeSelectors(reviews authorizer.Authorizer) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if selectorSize(a) > maxReviewedSelector {
			a = withoutSelectors{a}
		}
		return reviews.Authorize(ctx, a)
	})
}

// selectorSize returns about how many bytes the selectors have as text.
func selectorSize(a authorizer.Attributes) int {
	size := 0
	byField, _ := a.GetFieldSelector()
	for _, r := range byField {
		size += len(r.Field) + len(r.Operator) + len(r.Value)
	}
	byLabel, _ := a.GetLabelSelector()
	for _, r := range byLabel {
		size += len(r.Key()) + len(r.Operator())
		for _, value := range r.ValuesUnsorted() {
			size += len(value) + 1
		}
	}
	return size
}

// withoutSelectors are the attributes of a request for all objects.
type withoutSelectors struct{ authorizer.Attributes }

// GetFieldSelector implements authorizer.Attributes.
func (withoutSelectors) GetFieldSelector() (fields.Requirements, error) { return nil, nil }

// GetLabelSelector implements authorizer.Attributes.
func (withoutSelectors) GetLabelSelector() (labels.Requirements, error) { return nil, nil }
