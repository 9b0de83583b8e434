package grantd_test

import (
	"net/http/httptest"
	"os"
)

// setAddress says in the environment where the service of the examples is.
func setAddress() {
	os.Setenv("GRANTD_URL", httptest.NewServer(fake).URL)
	os.Setenv("GRANTD_KEY", fake.Key())
}
