package hnc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kjson "sigs.k8s.io/json"
)

// MaxQuantity is the largest number that Kubernetes counts.
const MaxQuantity = math.MaxInt64

// uncountable stands for every quantity beyond MaxQuantity.
var uncountable = resource.MustParse("10E")

const (
	// maxScale bounds the exponents of quantities, in either direction. Nano is 9, and sums of numbers up to
	// MaxQuantity are far below 10^30.
	maxScale = 30
	// maxBits bounds their digits.
	maxBits = 128
)

const (
	// MaxQuantityText bounds the characters of a quantity that is parsed.
	MaxQuantityText = 64
	// maxExponent bounds those of its exponent: a sign and two digits.
	maxExponent = 3
)

// ResourceList is a corev1.ResourceList that is cheap to decode and to compute with, whatever a user has written.
// Parsing 1e-2147483647 never ends, because it is rounded. All requests decode lists as this type, whatever their
// format, and so do reads from storage and clients.
type ResourceList corev1.ResourceList

// UnmarshalJSON replaces quantities that are expensive to parse, and those that are not quantities, by one that is not
// countable, which validation rejects. They are no error: some may have been stored before, and server-side apply
// answers an error with 500. A repeated name is one, which other decoders would not report for a type with a method of
// its own.
func (l *ResourceList) UnmarshalJSON(data []byte) error {
	var texts map[corev1.ResourceName]json.RawMessage
	*l = nil
	repeated, err := kjson.UnmarshalStrict(data, &texts, kjson.DisallowDuplicateFields)
	if err != nil || texts == nil {
		return err
	}
	if len(repeated) > 0 {
		return fmt.Errorf("%w; name each resource once", repeated[0])
	}
	list := make(ResourceList, len(texts))
	for name, text := range texts {
		var quantity resource.Quantity
		if !isNumber(text) || quantity.UnmarshalJSON(text) != nil {
			quantity = uncountable.DeepCopy()
		}
		list[name] = quantity
	}
	*l = list
	return nil
}

// isNumber reports whether JSON may be a quantity, a string or a number, and is cheap to parse. It has a digit: the
// parser accepts "-" and "Ki", for instance, as 0.
func isNumber(text []byte) bool {
	text = bytes.TrimSpace(bytes.Trim(text, `"`))
	if len(text) > MaxQuantityText || !bytes.ContainsAny(text, "0123456789") {
		return false
	}
	_, exponent, _ := bytes.Cut(bytes.ToLower(text), []byte("e"))
	return len(exponent) <= maxExponent
}

// Cheap reports whether computing with a quantity is cheap. Quantities may have any exponent and any number of digits:
// comparing 1e40000000 with another number takes half a minute, and even writing down a number with many digits can. It
// does neither.
func Cheap(q resource.Quantity) bool {
	// The parts of q, which is a copy, are read without computing with them.
	dec := q.AsDec()
	return dec.Scale() >= -maxScale && dec.Scale() <= maxScale && dec.UnscaledBig().BitLen() <= maxBits
}

// Countable reports whether Kubernetes can count as much as a quantity, in either direction. It is cheap for any
// quantity.
func Countable(q resource.Quantity) bool {
	return Cheap(q) && q.CmpInt64(MaxQuantity) <= 0 && q.CmpInt64(-MaxQuantity) >= 0
}

// Exact returns a sum in a format that keeps its value when it is written and parsed. Sums can exceed MaxQuantity, at which
// the parser caps numbers with binary suffixes, and other suffixes end at E.
func Exact(sum resource.Quantity) resource.Quantity {
	if !Countable(sum) {
		sum.Format = resource.DecimalExponent
	}
	return sum
}

// BoundQuantities returns a list in which quantities that are not countable are replaced by one that is not countable
// either, but cheap. Every list that tenants can influence passes through it before anything is computed with it.
func BoundQuantities(list corev1.ResourceList) corev1.ResourceList {
	var bounded corev1.ResourceList
	for name, quantity := range list {
		if Countable(quantity) {
			continue
		}
		if bounded == nil {
			bounded = maps.Clone(list)
		}
		replacement := uncountable.DeepCopy()
		if quantity.Sign() < 0 {
			replacement.Neg()
		}
		bounded[name] = replacement
	}
	if bounded == nil {
		return list
	}
	return bounded
}
