// The load of the comparison, the same program for every system: it makes one load on one system, looks at every answer,
// and measures from outside. It shares the machine with what it measures, so it is made to be cheap: requests are
// prepared, HTTP is written by hand, and it runs on one processor at a time. Its own processor time is not counted for
// the system, and is told with the result.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

// Requests prepared are many and live as long as the program; what is thrown away is little.
const garbagePercent = 800

func main() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(garbagePercent)
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var asked job
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return fmt.Errorf("the job: %w", err)
	}
	calls, err := callsOf(&asked)
	if err != nil {
		return err
	}
	found, err := execute(&asked, calls)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

// callsOf gives the requests of a job in the language of its system.
func callsOf(asked *job) (callList, error) {
	data := dataSet{grants: asked.Grants}
	switch asked.System {
	case "grantd", "echo":
		return grantdCalls(asked, data)
	case "openfga":
		return openfgaCalls(asked, data)
	case "spicedb":
		return spicedbCalls(asked, data)
	default:
		return callList{}, errors.New("unknown system " + asked.System)
	}
}
