package main

// HTTP/1.1 by hand on one keep-alive connection with one request in flight: everything else that a client library does
// would cost more than the cheapest of the measured systems.

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

const (
	dialSeconds = 5
	readBuffer  = 64 * 1024
)

type httpConnection struct {
	address  string
	head     []byte
	deadline time.Time
	socket   net.Conn
	reader   *bufio.Reader
	out      []byte
	body     []byte
}

func newHTTPConnection(asked *job, deadline time.Time) *httpConnection {
	head := " HTTP/1.1\r\nHost: " + asked.Address + "\r\n"
	if asked.Key != "" {
		head += "Authorization: Bearer " + asked.Key + "\r\n"
	}
	return &httpConnection{address: asked.Address, head: []byte(head), deadline: deadline}
}

func (c *httpConnection) close() {
	if c.socket != nil {
		_ = c.socket.Close()
		c.socket = nil
	}
}

func (c *httpConnection) open() error {
	socket, err := net.DialTimeout("tcp", c.address, dialSeconds*time.Second)
	if err != nil {
		return err
	}
	c.socket = socket
	c.reader = bufio.NewReaderSize(socket, readBuffer)
	return socket.SetDeadline(c.deadline)
}

// The answer is valid until the next call. After an error, the connection is opened again.
func (c *httpConnection) do(request *call) (answer, error) {
	if c.socket == nil {
		if err := c.open(); err != nil {
			return answer{}, err
		}
	}
	found, closing, err := c.exchange(request)
	if err != nil || closing {
		c.close()
	}
	return found, err
}

func (c *httpConnection) exchange(request *call) (found answer, closing bool, err error) {
	out := append(c.out[:0], request.method...)
	out = append(out, ' ')
	out = append(out, request.path...)
	out = append(out, c.head...)
	if request.contentType != "" {
		out = append(out, "Content-Type: "...)
		out = append(out, request.contentType...)
		out = append(out, "\r\nContent-Length: "...)
		out = strconv.AppendInt(out, int64(len(request.body)), 10)
		out = append(out, "\r\n"...)
	}
	out = append(out, "\r\n"...)
	out = append(out, request.body...)
	c.out = out
	if _, err := c.socket.Write(out); err != nil {
		return answer{}, true, err
	}
	return c.read()
}

func (c *httpConnection) read() (found answer, closing bool, err error) {
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return answer{}, true, err
	}
	if len(line) < len("HTTP/1.1 200") {
		return answer{}, true, fmt.Errorf("not an answer of HTTP: %q", line)
	}
	status, err := strconv.Atoi(string(line[9:12]))
	if err != nil {
		return answer{}, true, fmt.Errorf("not an answer of HTTP: %q", line)
	}
	length, chunked := -1, false
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return answer{}, true, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("content-length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return answer{}, true, err
			}
		case bytes.EqualFold(name, []byte("transfer-encoding")):
			chunked = true
		case bytes.EqualFold(name, []byte("connection")):
			closing = bytes.EqualFold(value, []byte("close"))
		}
	}
	c.body = c.body[:0]
	switch {
	case chunked:
		err = c.readChunks()
	case length >= 0:
		err = c.readBytes(length)
	default:
		err = errors.New("an answer without a length")
	}
	return answer{status: status, messages: [][]byte{c.body}}, closing, err
}

func (c *httpConnection) readBytes(length int) error {
	start := len(c.body)
	if cap(c.body) < start+length {
		c.body = append(make([]byte, 0, 2*(start+length)), c.body...)
	}
	c.body = c.body[:start+length]
	_, err := io.ReadFull(c.reader, c.body[start:])
	return err
}

func (c *httpConnection) readChunks() error {
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		length, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return err
		}
		if err := c.readBytes(int(length)); err != nil {
			return err
		}
		if _, err := c.reader.Discard(len("\r\n")); err != nil {
			return err
		}
		if length == 0 {
			return nil
		}
	}
}
