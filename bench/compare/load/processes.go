package main

// Processor time and memory of process trees, from /proc.

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// USER_HZ, which is 100 on every Linux that Go supports.
const ticksPerSecond = 100

type processStat struct {
	parent int
	// Of children that have ended and were waited for.
	endedTicks int64
}

func readStat(pid int) (processStat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return processStat{}, err
	}
	// The second field, the name, may contain spaces; the part after its closing bracket starts with field 3.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	stat := processStat{}
	stat.parent, _ = strconv.Atoi(string(fields[1]))
	for _, field := range fields[13:15] {
		ticks, _ := strconv.ParseInt(string(field), 10, 64)
		stat.endedTicks += ticks
	}
	return stat, nil
}

// The running processes and all their descendants.
func readTrees(roots []int) map[int]processStat {
	all := map[int]processStat{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			if stat, err := readStat(pid); err == nil {
				all[pid] = stat
			}
		}
	}
	trees := map[int]processStat{}
	for pid := range all {
		for ancestor := pid; ancestor > 1; ancestor = all[ancestor].parent {
			for _, root := range roots {
				if ancestor == root {
					trees[pid] = all[pid]
				}
			}
		}
	}
	return trees
}

// clockSeconds is the processor time of all threads of a process, also of those that have ended: to the nanosecond, while
// /proc/<pid>/stat counts in steps of 10 ms, a tenth of what a cheap system takes for a few seconds of light load.
func clockSeconds(pid int) float64 {
	const schedulerClock = 2
	var spent unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|schedulerClock), &spent); err != nil {
		return 0
	}
	return time.Duration(spent.Nano()).Seconds()
}

// processes are those of a system, with their descendants at the last scan.
type processes struct {
	roots []int
	found map[int]processStat
}

func newProcesses(roots []int) *processes {
	return &processes{roots, readTrees(roots)}
}

// cpuSeconds reads the clocks of the processes found. It reads little of /proc, because the load stands still meanwhile.
func (p *processes) cpuSeconds() float64 {
	sum := 0.0
	for pid := range p.found {
		sum += clockSeconds(pid)
	}
	for _, pid := range p.parents() {
		if stat, err := readStat(pid); err == nil {
			sum += float64(stat.endedTicks) / ticksPerSecond
		}
	}
	return sum
}

// Those whose children may have ended.
func (p *processes) parents() []int {
	found := slices.Clone(p.roots)
	for _, stat := range p.found {
		if _, known := p.found[stat.parent]; known && !slices.Contains(found, stat.parent) {
			found = append(found, stat.parent)
		}
	}
	return found
}

// newCPUSeconds is the time of processes that have started since the last scan, which is repeated.
func (p *processes) newCPUSeconds() float64 {
	before, sum := p.found, 0.0
	p.found = readTrees(p.roots)
	for pid := range p.found {
		if _, known := before[pid]; !known {
			sum += clockSeconds(pid)
		}
	}
	return sum
}

func (p *processes) memoryBytes() int64 {
	var kib int64
	for pid := range readTrees(p.roots) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if rest, found := strings.CutPrefix(line, "Pss:"); found {
				value, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
				kib += value
			}
		}
	}
	return kib * 1024
}

func ownCPUSeconds() float64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return (time.Duration(usage.Utime.Nano()) + time.Duration(usage.Stime.Nano())).Seconds()
}
