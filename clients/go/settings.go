// The settings that a client checks when it is created, and those that it takes from the environment.

package grantd

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

const userAgentMax = 256

// What the client or the connection decides.
var ownHeaders = []string{
	"Accept", "Accept-Encoding", "Authorization", "Connection", "Content-Encoding", "Content-Length", "Content-Type",
	"Expect", "Host", "Idempotency-Key", "If-Match", "If-None-Match", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"User-Agent",
}

// addressAndKey are those of the Config, or of the environment: the key of the environment is for the address that the
// environment names.
func addressAndKey(config Config) (address, key string, err error) {
	address, key = config.URL, config.Key
	if (address == "") != (key == "") {
		return "", "", fmt.Errorf("grantd: the Config has no %s: set both URL and Key, or neither and GRANTD_URL and GRANTD_KEY in the environment",
			missing(address, key))
	}
	if address == "" {
		address, key = os.Getenv("GRANTD_URL"), os.Getenv("GRANTD_KEY")
	}
	if address == "" || key == "" {
		return "", "", fmt.Errorf("grantd: there is no %s: set URL and Key in the Config, or GRANTD_URL and GRANTD_KEY in the environment",
			missing(address, key))
	}
	return address, key, nil
}

func missing(address, key string) string {
	switch {
	case address != "":
		return "key"
	case key != "":
		return "URL"
	}
	return "URL and no key"
}

// retries bounds those of one call.
type retries struct {
	most int
	// Upper bounds of the random pause: before the first retry, doubled with each retry, and before any retry.
	first, longest time.Duration
}

func retriesOf(config Config) (retries, error) {
	own := retries{most: config.MaxRetries, first: config.BackoffFirst, longest: config.BackoffMax}
	if own.most == 0 {
		own.most = retriesMaxDefault
	}
	if own.first < 0 || own.longest < 0 {
		return own, fmt.Errorf("grantd: BackoffFirst is %v and BackoffMax %v; neither can be negative", own.first, own.longest)
	}
	if own.longest == 0 {
		own.longest = max(jitterMax, own.first)
	}
	if own.first == 0 {
		own.first = min(jitterFirst, own.longest)
	}
	if own.first > own.longest {
		return own, fmt.Errorf("grantd: BackoffFirst is %v, more than BackoffMax: %v", own.first, own.longest)
	}
	return own, nil
}

func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

func isTokenRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// headerOf is the header that goes with each request, with the User-Agent.
func headerOf(config Config) (http.Header, error) {
	header := http.Header{}
	for name, values := range config.Header {
		if err := wrongHeader(name, values); err != nil {
			return nil, fmt.Errorf("grantd: Header: %w", err)
		}
		if slices.Contains(ownHeaders, http.CanonicalHeaderKey(name)) {
			return nil, fmt.Errorf("grantd: Header may not have %s: the client sets it itself", name)
		}
		for _, value := range values {
			if value == "" {
				return nil, fmt.Errorf("grantd: Header has an empty value of %s", name)
			}
			header.Add(name, value)
		}
	}
	agent := "grantd-go/" + version + " (" + runtime.Version() + ")"
	if added := config.UserAgent; added != "" {
		if added != strings.TrimSpace(added) || len(added) > userAgentMax || !isPrintable(added) {
			return nil, fmt.Errorf("grantd: UserAgent is not up to %d characters of printable ASCII", userAgentMax)
		}
		agent += " " + added
	}
	header.Set("User-Agent", agent)
	return header, nil
}
