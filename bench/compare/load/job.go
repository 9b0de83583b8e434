package main

// What the load is asked (one JSON document on standard input) and what it answers (one on standard output).

type job struct {
	// grantd, echo, openfga or spicedb: how requests are written and answers read.
	System string `json:"system"`
	// http or grpc.
	Protocol string `json:"protocol"`
	// host:port.
	Address string `json:"address"`
	// The bearer token that requests carry; none where empty.
	Key string `json:"key"`
	// Of grantd, for the import.
	Tenant string `json:"tenant"`
	// Of OpenFGA.
	Store string `json:"store"`
	Model string `json:"model"`
	// Of SpiceDB: answers are at least as fresh as this revision.
	Revision string `json:"revision"`

	// load, check, batch, list or write.
	Operation string `json:"operation"`
	Grants    int    `json:"grants"`
	// wide or deep, for check and batch; a deep batch is about one subject.
	Shape string `json:"shape"`
	// Grants in a call of load, checks in a call of batch.
	PerCall int `json:"perCall"`
	// The number of the first new grant, for write. For check: not 0 where every question is new, from that number on.
	Start int `json:"start"`

	// once: every request one time. saturate: round and round, each worker anew as soon as it is answered. rate: round and
	// round, that many a second whatever the answers do.
	Mode          string  `json:"mode"`
	WarmUpSeconds float64 `json:"warmUpSeconds"`
	// What is measured after the warm-up; of once, the bound.
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"perSecond"`
	// Requests under way at a time. Each has a connection of its own over HTTP; over gRPC they share four.
	Workers int `json:"workers"`
	// Processes whose use of the machine is measured, with their descendants.
	Processes []int `json:"processes"`
}

type result struct {
	// Requests at any time.
	Asked int `json:"asked"`
	// Right answers while it was measured.
	Answered int     `json:"answered"`
	Seconds  float64 `json:"seconds"`
	// Wrong answers at any time, and the first of them.
	Wrong      int    `json:"wrong"`
	FirstWrong string `json:"firstWrong,omitempty"`
	// Requests that got no answer (refused, timed out, cut off), and the first of them.
	Failed      int    `json:"failed"`
	FirstFailed string `json:"firstFailed,omitempty"`

	// From the sending of a request, or with a rate from the moment it was due.
	P50Millis float64 `json:"p50Ms"`
	P99Millis float64 `json:"p99Ms"`
	MaxMillis float64 `json:"maxMs"`

	// Processor time of the processes, and of this program, while it was measured.
	CPUSeconds     float64 `json:"cpuSeconds"`
	LoadCPUSeconds float64 `json:"loadCpuSeconds"`
	// Memory of the processes at the end: shared pages count once.
	MemoryBytes int64 `json:"memoryBytes"`
}
