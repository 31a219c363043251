package hnc

import (
	"maps"
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// MaxQuantity is the largest number that Kubernetes counts.
const MaxQuantity = math.MaxInt64

// uncountable stands for every quantity beyond MaxQuantity.
var uncountable = resource.MustParse("10E")

const (
	// maxScale bounds the exponents of quantities, in either direction. Nano is 9, and sums of numbers up to MaxQuantity are far below 10^30.
	maxScale = 30
	// maxBits bounds their digits.
	maxBits = 128
)

// Cheap reports whether computing with a quantity is cheap. Quantities may have any exponent and any number of digits: comparing 1e40000000 with another
// number takes half a minute, and even writing down a number with many digits can. It does neither.
func Cheap(q resource.Quantity) bool {
	// The parts of q, which is a copy, are read without computing with them.
	dec := q.AsDec()
	return dec.Scale() >= -maxScale && dec.Scale() <= maxScale && dec.UnscaledBig().BitLen() <= maxBits
}

// Countable reports whether Kubernetes can count as much as a quantity, in either direction. It is cheap for any quantity.
func Countable(q resource.Quantity) bool {
	return Cheap(q) && q.CmpInt64(MaxQuantity) <= 0 && q.CmpInt64(-MaxQuantity) >= 0
}

// BoundQuantities returns a list in which quantities that are not countable are replaced by one that is not countable either, but cheap. Every list that tenants
// can influence passes through it before anything is computed with it.
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
