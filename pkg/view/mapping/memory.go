package mapping

// Counting returns the Mapper for a response whose parts that are kept in memory are counted, if they are large, until
// they are released: while the response is read, translated, and written. Of a request, what it grows by is counted, and
// never released, because its translation is what is kept. An error of reserve ends the translation.
func (m *Mapper) Counting(reserve func(bytes int64) (release func(), err error)) *Mapper {
	counting := *m
	counting.reserve = reserve
	return &counting
}

// memory is what a translation has reserved, part by part.
type memory struct {
	reserve func(bytes int64) (release func(), err error)
	bytes   int
	parts   []reserved
}

type reserved struct {
	bytes   int
	release func()
}

// uncounted is what every translation may have: a buffer that is kept, and the translation of a value in it.
const uncounted = 2 * keptOfList

// resize reserves what is missing to so many bytes, in steps of uncounted, and releases what is not needed.
func (m *memory) resize(bytes int) error {
	if m.reserve == nil {
		return nil
	}
	steps := (bytes - 1) / uncounted // the first one is free
	bytes = max(steps, 0) * uncounted
	for last := len(m.parts) - 1; last >= 0 && m.bytes-m.parts[last].bytes >= bytes; last-- {
		m.parts[last].release()
		m.bytes -= m.parts[last].bytes
		m.parts = m.parts[:last]
	}
	more := bytes - m.bytes
	if more <= 0 {
		return nil
	}
	release, err := m.reserve(int64(more))
	if err != nil {
		return err
	}
	m.bytes, m.parts = bytes, append(m.parts, reserved{more, release})
	return nil
}

// close releases everything.
func (m *memory) close() { _ = m.resize(0) }
