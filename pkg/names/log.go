package names

import (
	"errors"
	"fmt"
)

// LogFilter shortens what libraries write to logs, such as the URLs of requests, which contain the names of objects. It
// is a filter of klog, which it does not import; klog does not apply it to the error that is the subject of a message.
type LogFilter struct{}

// Filter shortens values.
func (LogFilter) Filter(args []any) []any {
	shortened := make([]any, len(args))
	for i, arg := range args {
		shortened[i] = shortenValue(arg)
	}
	return shortened
}

// FilterF shortens the values of a format.
func (f LogFilter) FilterF(format string, args []any) (string, []any) { return format, f.Filter(args) }

// FilterS shortens the values of a structured message.
func (f LogFilter) FilterS(message string, keysAndValues []any) (string, []any) {
	return ShortenText(message), f.Filter(keysAndValues)
}

// shortenValue returns a value, or its text if that is long: values of any type, such as the parameters of a query, can
// have texts of users.
func shortenValue(value any) any {
	var text string
	switch v := value.(type) {
	case string:
		text = v
	case []byte:
		text = string(v)
	case error:
		text = v.Error()
	case fmt.Stringer:
		text = v.String()
	default:
		text = fmt.Sprintf("%+v", value)
	}
	if len(text) <= MaxLength {
		return value
	}
	if _, ok := value.(error); ok {
		return errors.New(ShortenText(text))
	}
	return ShortenText(text)
}
