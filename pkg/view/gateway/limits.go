package gateway

// Limits bound the requests that one replica serves at the same time.
type Limits struct {
	// Requests are those of one view that are answered at once, Streams are its watches, logs, shells and the like, and
	// AllStreams are those of all views.
	Requests, Streams, AllStreams int
}

// retryAfter is when a rejected request may be sent again, in seconds.
const retryAfter = 1
