#!/usr/bin/env node
// Where the program starts: the only file that reads the environment and the arguments.

import { endOnSignals } from './roles/process/life-cycle.ts';
import { runProgram } from './roles/program.ts';

if (process.pid === 1) endOnSignals();
await runProgram(process);
