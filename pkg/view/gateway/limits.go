package gateway

// Limits bound the requests of one view that one replica serves at the same time.
type Limits struct {
	// Requests are those that are answered at once, Streams are watches, logs, shells and the like.
	Requests, Streams int
}

// retryAfter is when a rejected request may be sent again, in seconds.
const retryAfter = 1
