// What a real shell offers where somebody presses the tab key: bash, zsh and fish, with the program's own completion.

import { execFile } from 'node:child_process';
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { missingProgram } from '../../../tools/engines/debian-program.ts';
import { BARE_ENVIRONMENT } from '../../kit/bare-environment.ts';
import { MAIN } from '../../kit/dev-process.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

/** Only what hangs takes so long. */
const ANSWER_MS_MAX = 300_000;

const run = promisify(execFile);

/** Undefined where the shell is there; else why not. */
export const missingShell = (shell: Shell): Promise<string | undefined> =>
  missingProgram(`completion in ${shell}`, shell);

/** Sets the variables that bash gives to a completion function, and prints what it offers. */
const BASH = `
script=$(grantd completion bash)
source <(echo "$script") && source <(echo "$script")
for line in "$@"; do
  COMP_LINE=$line COMP_POINT=\${#line} COMPREPLY=()
  _grantd
  echo "\${COMPREPLY[*]}"
done`;

const FISH = `
grantd completion fish | source
for line in $argv; string join -- ' ' (complete -C $line | string split -f 1 \\t); end; true`;

/**
 * Zsh completes only for a terminal: it types the line and a tab into one, and a key that prints what the line became.
 * The terminal may echo what is typed at first, so what tells that it is ready is not in what is typed.
 */
const ZSH = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1= RPS1= PS2=; stty -echo; autoload -Uz compinit; compinit -u -D; source <(grantd completion zsh)'
zpty -w shell 'show() { print -r -- "<<$BUFFER>>"; BUFFER=; zle redisplay }; zle -N show; bindkey "^X" show; print -r RE""ADY'
zpty -r -m shell answer '*READY*'
for line in "$@"; do
  zpty -w -n shell "$line"$'\\t\\C-x'
  zpty -r -m shell answer '*<<*>>*'
  answer=\${answer##*<<}
  print -r -- "\${answer%%>>*}"
done`;

const SHELLS: Readonly<Record<Shell, (lines: readonly string[]) => readonly string[]>> = {
  bash: (lines) => ['--norc', '-c', BASH, 'bash', ...lines],
  fish: (lines) => ['--no-config', '-c', FISH, ...lines],
  zsh: (lines) => ['-f', '-c', ZSH, 'zsh', ...lines],
};

/**
 * Per line, what the shell offers with spaces between; of zsh the line itself, completed as far as it is unique. The
 * program is found as `grantd`, in `directory`.
 */
export async function complete(shell: Shell, directory: string, lines: readonly string[]): Promise<readonly string[]> {
  // Of each call its own: a shell must not run what another call is writing.
  const programs = await mkdtemp(join(directory, 'bin-'));
  await writeFile(join(programs, 'grantd'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  await chmod(join(programs, 'grantd'), 0o755);
  const { stdout } = await run(shell, [...SHELLS[shell](lines)], {
    cwd: directory,
    env: {
      ...BARE_ENVIRONMENT,
      PATH: `${programs}:${process.env.PATH}`,
      HOME: directory,
      TERM: 'dumb',
      LC_ALL: 'C.UTF-8',
    },
    timeout: ANSWER_MS_MAX,
  });
  const answers = stdout.replaceAll('\r', '').replace(/\n$/, '').split('\n');
  return answers.slice(-lines.length).map((answer) => answer.trimEnd());
}
