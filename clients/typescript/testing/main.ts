// Runs the command `testing` as a program of its own. The only file of the package that reads the arguments.

import { enableCompileCache } from 'node:module';
import { createProgram, parseProgram } from '../../../src/roles/command-line.ts';
import { describeTesting } from '../../../src/roles/testing-command.ts';
import packageFile from './package.json' with { type: 'json' };

// The next start takes half the time.
enableCompileCache();
const { version } = packageFile;
await parseProgram(describeTesting(createProgram(process, version), process, version), process, () => undefined);
