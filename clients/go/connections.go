// Connections that count what they read. A response whose first byte came before its request was written is that of
// nobody, perhaps a second one to the request before: net/http drops such a connection, unless another request takes it
// in that moment, and would take the response for its own.

package grantd

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

var errUnasked = errors.New("the connection had an unsolicited response")

// No request has been written since the connection was taken.
const notWritten = -1

type countedConn struct {
	net.Conn
	// How often bytes came, and how often they had come when the present request was begun.
	reads, atRequest atomic.Int64
}

func (c *countedConn) Read(into []byte) (int, error) {
	count, err := c.Conn.Read(into)
	if count > 0 {
		c.reads.Add(1)
	}
	return count, err
}

func (c *countedConn) Write(text []byte) (int, error) {
	c.atRequest.CompareAndSwap(notWritten, c.reads.Load())
	return c.Conn.Write(text)
}

// hasNew reports whether bytes came since the present request was begun.
func (c *countedConn) hasNew() bool {
	atRequest := c.atRequest.Load()
	return atRequest != notWritten && c.reads.Load() > atRequest
}

type dial = func(ctx context.Context, network, address string) (net.Conn, error)

func countedDial(dial dial) dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: conn}, nil
	}
}

// counted is the same transport with connections of its own. Those of a DialTLSContext of the application are its own.
func counted(given *http.Transport) *http.Transport {
	own := given.Clone()
	if own.DialContext == nil {
		if plain := own.Dial; plain != nil {
			own.DialContext = func(_ context.Context, network, address string) (net.Conn, error) {
				return plain(network, address)
			}
		} else {
			own.DialContext = (&net.Dialer{}).DialContext
			// With a dialer, net/http would no longer try HTTP/2 by itself.
			own.ForceAttemptHTTP2 = own.ForceAttemptHTTP2 || own.TLSClientConfig == nil
		}
	}
	own.DialContext = countedDial(own.DialContext)
	return own
}

func countedOf(conn net.Conn) *countedConn {
	if secure, isSecure := conn.(interface{ NetConn() net.Conn }); isSecure {
		conn = secure.NetConn()
	}
	known, _ := conn.(*countedConn)
	return known
}

// asking watches the connection of one request. The function says whether its response is that of the request.
func asking(ctx context.Context) (context.Context, func(*http.Response) bool) {
	var conn atomic.Pointer[countedConn]
	var isUnasked atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if counting := countedOf(info.Conn); counting != nil {
				counting.atRequest.Store(notWritten)
				conn.Store(counting)
			}
		},
		GotFirstResponseByte: func() {
			if counting := conn.Load(); counting != nil && !counting.hasNew() {
				isUnasked.Store(true)
			}
		},
	})
	return traced, func(got *http.Response) bool {
		// HTTP/2 has requests side by side, and names that of each response.
		if got.ProtoMajor > 1 || !isUnasked.Load() {
			return true
		}
		_ = conn.Load().Close()
		return false
	}
}
