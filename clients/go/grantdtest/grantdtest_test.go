package grantdtest_test

import (
	"strings"
	"testing"

	"github.com/grantd/grantd/clients/go/grantdtest"
)

func TestEachClientHasATenantOfItsOwn(t *testing.T) {
	own, err := grantdtest.Run(grantdtest.Options{Command: []string{"../../../bin/grantd", "testing"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GRANTD_TESTING_URL", own.URL)
	service := grantdtest.Start(t)
	if service.URL != own.URL || grantdtest.Start(t) != service {
		t.Errorf("%s, not %s", service.URL, own.URL)
	}
	client := service.Client()
	if _, err := client.CreateNamespace(t.Context(), "folder"); err != nil {
		t.Fatal(err)
	}
	if others, err := service.Client().ListNamespaces(t.Context()); err != nil || len(others) > 0 {
		t.Errorf("another tenant has %v, %v", others, err)
	}
	if err := service.Stop(); err != nil {
		t.Error(err)
	}
	if err := own.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := client.CreateNamespace(t.Context(), "other"); err == nil {
		t.Error("it goes on")
	}
}

func TestAServiceThatDoesNotStartSaysWhy(t *testing.T) {
	for _, command := range [][]string{{"no-such-program"}, {"false"}, {"echo", "{"}} {
		if _, err := grantdtest.Run(grantdtest.Options{Command: command}); err == nil {
			t.Errorf("%v has started", command)
		} else {
			t.Log(err)
		}
	}
}

func TestWithoutTheProgramItSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := grantdtest.Run(grantdtest.Options{}); err == nil || !strings.Contains(err.Error(), "GRANTD_TESTING_URL") {
		t.Error(err)
	}
}
