package main

// Processor time and memory of process trees, from /proc.

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// USER_HZ, which is 100 on every Linux that Go supports.
const ticksPerSecond = 100

type processStat struct {
	parent int
	// Including children that have ended and were waited for.
	ticks int64
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
	for _, field := range fields[11:15] {
		ticks, _ := strconv.ParseInt(string(field), 10, 64)
		stat.ticks += ticks
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

func cpuSeconds(roots []int) float64 {
	var ticks int64
	for _, stat := range readTrees(roots) {
		ticks += stat.ticks
	}
	return float64(ticks) / ticksPerSecond
}

func memoryBytes(roots []int) int64 {
	var kib int64
	for pid := range readTrees(roots) {
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
