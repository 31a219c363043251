package options

import "testing"

func TestFlagsThatCannotWorkAreRejected(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"the defaults":                         {func(*Options) {}, ""},
		"no port":                              {func(o *Options) { o.Secure.BindPort = -1 }, "serving"},
		"no requests":                          {func(o *Options) { o.Limits.Requests = 0 }, "max-requests-per-view"},
		"a negative delay":                     {func(o *Options) { o.ShutdownDelay = -1 }, "shutdown-delay-duration"},
		"no streams":                           {func(o *Options) { o.Limits.Streams = 0 }, "max-streams-per-view"},
		"fewer streams than those of one view": {func(o *Options) { o.Limits.AllStreams = o.Limits.Streams - 1 }, "max-streams"},
		"streams of one view only":             {func(o *Options) { o.Limits.AllStreams = o.Limits.Streams }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := New()
			test.change(o)
			got := ""
			for _, err := range o.Validate() {
				got += err.Field
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
