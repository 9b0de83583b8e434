// The client and its settings.

package grantd

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	version = "0.2.0"

	timeoutDefault = 10 * time.Second
	silenceDefault = 45 * time.Second
	// Connections to one host that stay open: net/http keeps two, and opens a new one for each further call at a time.
	idleConnectionsMax = 100
)

// Config says where the service is and how to call it. Nothing is needed if the environment has GRANTD_URL and
// GRANTD_KEY.
type Config struct {
	// Where the service is, such as "https://grantd.example". Default: GRANTD_URL of the environment, with GRANTD_KEY.
	URL string
	// The API key. Default: GRANTD_KEY of the environment.
	Key string
	// For a call with all its retries, unless the context ends earlier. Default: 10 s.
	Timeout time.Duration
	// How often one call is repeated at most. Default: 5. Negative: never.
	MaxRetries int
	// The bounds of the random pause before a retry: of the first, which doubles from retry to retry, and of any.
	// Default: 50 ms and 2 s.
	BackoffFirst, BackoffMax time.Duration
	// The initial and maximum number of retries in stock. Each call adds a tenth of one, so a lasting outage adds a
	// tenth to the calls. Default: 10. Negative: no retries.
	RetryBudget int
	// Each Check is a request of its own: concurrent ones are not gathered.
	NoGathering bool
	// How long the change feed may be silent before its connection counts as lost. Default: 45 s, three times the longest
	// silence of the service.
	Silence time.Duration
	// Sent with each request. Those that the client sets itself are refused.
	Header http.Header
	// Added to the User-Agent, such as "documents/1.2".
	UserAgent string
	// Around each call, for tracing and metrics.
	Hook Hook
	// Logs hints of the service for developers, each text once, and each attempt of a call at the level "debug".
	// Default: slog.Default().
	Logger *slog.Logger
	// For proxies and certificates. Without a Transport, it uses no proxy, not even one of the environment. It does not
	// follow redirects; its CheckRedirect is ignored.
	HTTPClient *http.Client
}

// Hook is called before each call. The context that it returns is that of the call; the function, which may be nil, is
// called when the call has ended.
type Hook func(ctx context.Context, call *Call) (context.Context, func(Outcome))

// Call is one call of the API, with all its retries.
type Call struct {
	// The id of the operation in the OpenAPI file, such as "checkBulk".
	Operation string
	Method    string
	// Without its query.
	URL string
	// Sent with each attempt: a place for "traceparent".
	Header http.Header
}

// Outcome is how a call ended.
type Outcome struct {
	// 0 if there was no answer.
	Status    int
	RequestID string
	// How many requests were sent.
	Attempts int
	// Nil if it succeeded.
	Err error
}

// Client calls the service. Create it once, and use it from as many goroutines as you like.
type Client struct {
	base     string
	key      string
	timeout  time.Duration
	silence  time.Duration
	http     *http.Client
	hook     Hook
	logger   *slog.Logger
	header   http.Header
	retries  retries
	budget   *retryBudget
	warnings *warnings
	gather   *gatherer
}

// New checks the settings. It does not connect.
func New(config Config) (*Client, error) {
	given, key, err := addressAndKey(config)
	if err != nil {
		return nil, err
	}
	address, err := url.Parse(given)
	if err != nil || !utf8.ValidString(given) || address.Host == "" || (address.Scheme != "https" && address.Scheme != "http") {
		return nil, errors.New("grantd: the URL is not that of a service, such as https://grantd.example")
	}
	if address.RawQuery != "" || address.Fragment != "" || address.User != nil {
		return nil, errors.New("grantd: the URL has a user, a query or a fragment")
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("grantd: the key has characters that no key has")
	}
	retries, err := retriesOf(config)
	if err != nil {
		return nil, err
	}
	header, err := headerOf(config)
	if err != nil {
		return nil, err
	}
	c := &Client{
		base:     strings.TrimRight(given, "/"),
		key:      key,
		timeout:  config.Timeout,
		silence:  config.Silence,
		http:     httpClient(config.HTTPClient),
		hook:     config.Hook,
		logger:   config.Logger,
		header:   header,
		retries:  retries,
		budget:   newRetryBudget(config.RetryBudget),
		warnings: newWarnings(),
	}
	if c.timeout <= 0 {
		c.timeout = timeoutDefault
	}
	if c.silence <= 0 {
		c.silence = silenceDefault
	}
	if !config.NoGathering {
		c.gather = newGatherer(c)
	}
	return c, nil
}

// String keeps the key out of logs.
func (c *Client) String() string { return "grantd.Client(" + c.base + ")" }

// GoString keeps the key out of logs.
func (c *Client) GoString() string { return c.String() }

func httpClient(given *http.Client) *http.Client {
	var own http.Client
	if given != nil {
		own = *given
	}
	if transport, isDefault := http.DefaultTransport.(*http.Transport); isDefault && own.Transport == nil {
		transport = transport.Clone()
		transport.MaxIdleConnsPerHost = idleConnectionsMax
		// Over plain HTTP, a proxy of the environment would get the key in clear.
		transport.Proxy = nil
		own.Transport = transport
	}
	if transport, isKnown := own.Transport.(*http.Transport); isKnown {
		own.Transport = counted(transport)
	}
	// The API has no redirects, and the key must not go anywhere else.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}
