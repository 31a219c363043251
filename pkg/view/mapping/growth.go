package mapping

import "strings"

// growth bounds the translation of a request, which can become many times as large: real names are longer than those of
// the view, and selectors of namespaces get a requirement. What exceeds the limit is not translated to its end.
type growth struct {
	// size is what the translation may have without more being reserved, and limit what it may have at all, in bytes.
	size, limit int
	reserve     func(bytes int64) (release func(), err error)
}

// growthStep is how many bytes are reserved at once, and how many more than the request its translation may have without
// that.
const growthStep = 64 << 10

// ofRequest returns the translation of a request of this size.
func (m *Mapper) ofRequest(size int) *translation {
	t := m.translation(In)
	t.growth.size = size + growthStep
	return t
}

// fits returns an error of the API if a request may not have so many bytes.
func (t *translation) fits(size int) error {
	g := t.growth
	switch {
	case t.to == Out || size <= g.size && size <= g.limit:
		return nil
	case size > g.limit:
		return tooLarge(g.limit)
	case g.reserve != nil:
		if _, err := g.reserve(int64(size - g.size + growthStep)); err != nil {
			return err
		}
	}
	g.size = size + growthStep
	return nil
}

// full reports whether a request cannot have a text of this size. The rest of the text is then left out, and fits returns
// an error where it is appended.
func (t *translation) full(size int) bool { return t.to == In && size > t.growth.limit }

// split translates the parts of a text between separators, up to one that is the last, which most texts do not have.
func (t *translation) split(s, separator string, translate func(part string) (translated string, last bool)) string {
	var b strings.Builder
	b.Grow(len(s))
	between := ""
	for part := range strings.SplitSeq(s, separator) {
		translated, last := translate(part)
		b.WriteString(between)
		b.WriteString(translated)
		if last || t.full(b.Len()) {
			break
		}
		between = separator
	}
	return b.String()
}
