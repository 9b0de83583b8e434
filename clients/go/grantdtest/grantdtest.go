// Package grantdtest starts grantd for tests of programs: the real service, in memory, with an empty tenant for each
// client.
//
//	client := grantdtest.Start(t).Client()
//
// The service ends with the process that has started it, also if that is killed.
package grantdtest

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/grantd/grantd/clients/go"
)

// Nothing is downloaded: what a registry has under this name may be of somebody else.
const program = "grantd-testing"

// Options say which service it is. Without any, the program grantd-testing of the PATH is started, which the package
// @grantd/testing of npm has.
type Options struct {
	// URL is that of a service that runs already.
	URL string
	// Command is the program that is started, and its arguments.
	Command []string
}

// Service is a service for tests.
type Service struct {
	URL     string
	stdin   io.Closer
	process *exec.Cmd
}

var shared = sync.OnceValues(func() (*Service, error) {
	return Run(Options{URL: os.Getenv("GRANTD_TESTING_URL")})
})

// Start returns one service for all tests of this process, which ends with it: that of GRANTD_TESTING_URL in the
// environment, or one that is started. The test fails if there is none.
func Start(t testing.TB) *Service {
	t.Helper()
	service, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// Run starts a service, unless the options name one. It returns when the service answers.
func Run(options Options) (*Service, error) {
	if options.URL != "" {
		return &Service{URL: options.URL}, nil
	}
	command := options.Command
	if len(command) == 0 {
		command = []string{program}
	}
	service, err := start(command)
	if len(options.Command) == 0 && errors.Is(err, exec.ErrNotFound) {
		err = fmt.Errorf("%w: install @grantd/testing, or set GRANTD_TESTING_URL", err)
	}
	if err != nil {
		return nil, fmt.Errorf("grantd for tests did not start: %s: %w", strings.Join(command, " "), err)
	}
	return service, nil
}

func start(command []string) (*Service, error) {
	process := exec.Command(command[0], slices.Concat(command[1:], []string{"--until-stdin-closes"})...)
	process.Stderr = os.Stderr
	stdin, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	service := &Service{stdin: stdin, process: process}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, service)
	}
	if err != nil {
		if ended := service.Stop(); ended != nil {
			err = ended
		}
		return nil, err
	}
	return service, nil
}

// NewKey is the key of a new, empty tenant. It has all scopes.
func (s *Service) NewKey() string {
	random := make([]byte, 16)
	_, _ = rand.Read(random)
	return "test_" + hex.EncodeToString(random)
}

// Client calls a new, empty tenant.
func (s *Service) Client() *grantd.Client { return s.ClientWith(grantd.Config{}) }

// ClientWith calls a new, empty tenant with other settings, or the tenant of the Key among them.
func (s *Service) ClientWith(config grantd.Config) *grantd.Client {
	config.URL = s.URL
	if config.Key == "" {
		config.Key = s.NewKey()
	}
	client, err := grantd.New(config)
	if err != nil {
		panic(err)
	}
	return client
}

// Stop ends the service, if it was started here.
func (s *Service) Stop() error {
	if s.process == nil {
		return nil
	}
	process := s.process
	s.process = nil
	_ = s.stdin.Close()
	return process.Wait()
}
