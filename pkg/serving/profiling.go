package serving

import (
	"net/http"
	"net/http/pprof"
	"runtime"
)

// What --profiling records of waiting: a sample for every 10 µs that something blocked, and of every tenth contention
// of a mutex.
const blockProfileRate, mutexProfileFraction = 10_000, 10

// profile serves Go's profiles under /debug/pprof/. The default mux, which importing them changes, is not served.
func profile(mux *http.ServeMux) {
	runtime.SetBlockProfileRate(blockProfileRate)
	runtime.SetMutexProfileFraction(mutexProfileFraction)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
}
