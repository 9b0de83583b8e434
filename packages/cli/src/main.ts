// The command line as a package of its own: all commands that call a service, and no service. The only file of the
// package that reads the environment and the arguments.

import { createProgram, parseProgram } from '../../../src/roles/command-line.ts';
import { registerServiceCommands } from '../../../src/roles/service-commands.ts';
import packageFile from '../package.json' with { type: 'json' };

const { version } = packageFile;
const program = createProgram(process, version);
registerServiceCommands(program, process, { version });
await parseProgram(program, process, () => 'cli');
