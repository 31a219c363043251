package mapping

import (
	"errors"
	"io"
)

// source reads a JSON text piece by piece. No more than one value is in memory.
type source struct {
	r          io.Reader
	buffer     []byte
	start, end int
	sizes      sizes
	// memory is that of the buffer, of the translation of one value in it, and of what the translation keeps besides.
	memory memory
	kept   int
}

// sizes are those of buffers, in bytes: what a source begins with, and returns to after values that were larger than
// kept.
type sizes struct{ first, kept int }

// Lists have many values, one after the other. Watches are many, and mostly wait.
var ofList, ofWatch = sizes{8 << 10, keptOfList}, sizes{512, 4 << 10}

const keptOfList = 64 << 10

// source returns the source of a response. It must be closed.
func (m *Mapper) source(r io.Reader, sizes sizes) *source {
	return &source{r: r, buffer: make([]byte, sizes.first), sizes: sizes, memory: memory{reserve: m.reserve}}
}

func (s *source) close() { s.memory.close() }

// keep counts what the translation keeps besides a value.
func (s *source) keep(bytes int) error {
	s.kept = bytes
	return s.memory.resize(2*len(s.buffer) + s.kept)
}

// fill reads more, keeping what is unread. It returns io.EOF at the end.
func (s *source) fill() error {
	if s.start == s.end && len(s.buffer) > s.sizes.kept {
		s.buffer, s.start, s.end = make([]byte, s.sizes.first), 0, 0
		if err := s.keep(s.kept); err != nil {
			return err
		}
	}
	if s.start > 0 {
		copy(s.buffer, s.buffer[s.start:s.end])
		s.start, s.end = 0, s.end-s.start
	}
	if s.end == len(s.buffer) {
		if err := s.memory.resize(4*len(s.buffer) + s.kept); err != nil {
			return err
		}
		s.buffer = append(s.buffer, make([]byte, len(s.buffer))...)
	}
	for range 100 {
		n, err := s.r.Read(s.buffer[s.end:])
		s.end += n
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// peek returns the next byte that is not white space, without consuming it.
func (s *source) peek() (byte, error) {
	for {
		for ; s.start < s.end; s.start++ {
			if c := s.buffer[s.start]; !isSpace(c) {
				return c, nil
			}
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
}

// expect consumes the next byte that is not white space.
func (s *source) expect(c byte) error {
	got, err := s.peek()
	if err != nil {
		return unexpectedEOF(err)
	}
	if got != c {
		return errMalformed
	}
	s.start++
	return nil
}

// value consumes the next value. The result is valid until the next call. It returns io.EOF if there is none.
func (s *source) value() ([]byte, error) {
	if _, err := s.peek(); err != nil {
		return nil, err
	}
	var e extent
	length := 0
	for {
		length += e.feed(s.buffer[s.start+length : s.end])
		switch {
		case length > maxObject:
			return nil, tooLarge(maxObject)
		case e.complete:
			value := s.buffer[s.start : s.start+length]
			s.start += length
			if length == 0 {
				return nil, errMalformed
			}
			return value, nil
		}
		if err := s.fill(); err != nil {
			if errors.Is(err, io.EOF) && e.scalar && e.depth == 0 {
				e.complete = true
				continue
			}
			return nil, unexpectedEOF(err)
		}
	}
}

func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
