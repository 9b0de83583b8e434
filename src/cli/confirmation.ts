// Asks for confirmation before an irreversible action. Only the exact requested answer counts as a yes. Without a
// terminal, `--yes` must confirm it.

import { createInterface } from 'node:readline/promises';
import type { CliContext } from './cli-context.ts';
import { CliFailure, EXIT } from './failures.ts';

export async function confirm(
  context: CliContext,
  question: {
    /** What would happen, as a sentence. */
    readonly what: string;
    /** What the person must type. */
    readonly answer: string;
    /** The message if the person declines. */
    readonly declined: string;
  },
): Promise<void> {
  const { what, answer, declined } = question;
  if (!context.stdin.isTTY || !context.stderr.isTTY) {
    throw new CliFailure(`${what} This needs confirmation. Without a terminal, pass --yes.`, EXIT.usage);
  }
  const prompt = createInterface({ input: context.stdin, output: context.stderr });
  // Ctrl-C and the end of the input mean no.
  const ended = new Promise<string>((resolve) => {
    prompt.once('close', () => resolve(''));
    prompt.once('SIGINT', () => prompt.close());
  });
  try {
    const typed = await Promise.race([prompt.question(`${what}\nType ${answer} to continue: `), ended]);
    if (typed.trim() !== answer) throw new CliFailure(declined);
  } finally {
    prompt.close();
  }
}
