package grantd_test

import "net/http/httptest"

// address is where the service of the examples is.
func address() (url, key string) {
	return httptest.NewServer(fake).URL, fake.Key()
}
