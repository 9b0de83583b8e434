package grantd_test

import (
	"os"

	"github.com/grantd/grantd/clients/go/grantdtest"
)

// startService starts that of this checkout. It ends with the tests.
func startService() *grantdtest.Service {
	service, err := grantdtest.Run(grantdtest.Options{Command: []string{"../../bin/grantd", "testing"}})
	if err != nil {
		panic(err)
	}
	return service
}

// setAddress says in the environment where the service of the examples is.
func setAddress() {
	os.Setenv("GRANTD_URL", service.URL)
	os.Setenv("GRANTD_KEY", key)
}
