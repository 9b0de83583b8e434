// The load of the comparison, the same program for every system: it runs one job on one system, checks every answer,
// and measures from outside. It shares the machine with what it measures, so it is built to be cheap: requests are
// prepared in advance, HTTP is written by hand, and it runs on one processor at a time. Its own processor time does not
// count for the system; the result reports it separately.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

// Many requests are prepared and live as long as the program; there is little garbage.
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

// callsOf returns the requests of a job in the format of its system.
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
