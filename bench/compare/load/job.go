package main

// The job of the load program (one JSON document on standard input) and its result (one on standard output).

type job struct {
	// grantd, echo, openfga or spicedb: how to write requests and read responses.
	System string `json:"system"`
	// http or grpc.
	Protocol string `json:"protocol"`
	// host:port.
	Address string `json:"address"`
	// The bearer token of the requests; none if empty.
	Key string `json:"key"`
	// For grantd, for the import.
	Tenant string `json:"tenant"`
	// For OpenFGA.
	Store string `json:"store"`
	Model string `json:"model"`
	// For SpiceDB: answers are at least as fresh as this revision.
	Revision string `json:"revision"`

	// load, check, batch, list (the objects of a subject), subjects (of an object) or write.
	Operation string `json:"operation"`
	Grants    int    `json:"grants"`
	// For check: wide, deep, or what a model decides, which has grants of its own: ruled, gated or conditional. For batch:
	// wide or deep, where a deep batch is about one subject. For load: one of the models', or empty for all other grants.
	// For list: ruled, gated or empty. For subjects: ruled or empty.
	Shape string `json:"shape"`
	// Grants in a call of load or of write (one, if 0), checks in a call of batch.
	PerCall int `json:"perCall"`
	// For write: the number of the first new grant. For check: if not 0, every question is new, from that number on.
	Start int `json:"start"`

	// once: every request one time. saturate: repeatedly, each worker sends the next request as soon as it has a response.
	// rate: repeatedly, that many a second, independently of the responses.
	Mode          string  `json:"mode"`
	WarmUpSeconds float64 `json:"warmUpSeconds"`
	// The measured time after the warm-up; for once, the bound.
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"perSecond"`
	// For rate: gaps as independent clients leave them, drawn from the seed; otherwise all gaps are equal.
	RandomGaps bool  `json:"randomGaps"`
	Seed       int64 `json:"seed"`
	// Requests in flight at a time. Over HTTP each has a connection of its own; over gRPC they share four.
	Workers int `json:"workers"`
	// Processes whose resource usage is measured, with their descendants.
	Processes []int `json:"processes"`
}

type result struct {
	// All requests sent.
	Asked int `json:"asked"`
	// Right answers during the measurement.
	Answered int     `json:"answered"`
	Seconds  float64 `json:"seconds"`
	// Wrong answers at any time, and the first of them.
	Wrong      int    `json:"wrong"`
	FirstWrong string `json:"firstWrong,omitempty"`
	// Requests without a response (refused, timed out, cut off), and the first of them.
	Failed      int    `json:"failed"`
	FirstFailed string `json:"firstFailed,omitempty"`

	// From the sending of a request; at a fixed rate, from the moment it was due.
	P50Millis float64 `json:"p50Ms"`
	P99Millis float64 `json:"p99Ms"`
	MaxMillis float64 `json:"maxMs"`

	// Processor time of the processes, and of this program, during the measurement.
	CPUSeconds     float64 `json:"cpuSeconds"`
	LoadCPUSeconds float64 `json:"loadCpuSeconds"`
	// Memory of the processes at the end; shared pages count once.
	MemoryBytes int64 `json:"memoryBytes"`

	// For rate only.
	Arrivals *arrived `json:"arrivals,omitempty"`
}

// arrived is what became of the requests that were due during the measurement. The package arrivals defines each field.
type arrived struct {
	Due           int     `json:"due"`
	Right         int     `json:"right"`
	OnTime        int     `json:"onTime"`
	Waited        int     `json:"waited"`
	IsBorne       bool    `json:"isBorne"`
	IsPunctual    bool    `json:"isPunctual"`
	P999Millis    float64 `json:"p999Ms"`
	LateP50Millis float64 `json:"lateP50Ms"`
	LateP99Millis float64 `json:"lateP99Ms"`
	LateMaxMillis float64 `json:"lateMaxMs"`
	GrowthMillis  float64 `json:"growthMs"`
}
