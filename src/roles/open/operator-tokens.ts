// The operator tokens of a process: the one of its own setting, and the named ones of a file. The file is read again
// when it changes, so that tokens are added and removed without a restart. Invariant: a file that is unreadable or
// wrong changes nothing.

import { readFile } from 'node:fs/promises';
import { namedToken, OPERATOR_NAME_DEFAULT, parseNamedTokens } from '../../config/parsers.ts';
import type { ConsoleConfig } from '../../config/settings.ts';
import type { Clock, Timer } from '../../core/async/clock.ts';
import { createOperatorTokens, type OperatorTokens } from '../../operator/operator-tokens.ts';
import type { Log } from '../../telemetry/log.ts';

/**
 * Kubernetes replaces a mounted secret by swapping links, which a watch on the file would miss, so the file is polled.
 */
const RELOAD_MS = 2000;

export interface WatchedOperatorTokens extends OperatorTokens {
  close(): void;
}

export function openOperatorTokens(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  config: Pick<ConsoleConfig, 'operatorToken' | 'operatorTokens'>,
): WatchedOperatorTokens {
  const { operatorToken, operatorTokens } = config;
  const own = operatorToken === undefined ? [] : [namedToken(OPERATOR_NAME_DEFAULT, operatorToken)];
  let current = createOperatorTokens([...own, ...(operatorTokens?.tokens ?? [])]);
  let lastText: string | undefined;
  let lastFailure = '';
  let closed = false;
  let timer: Timer | undefined;

  async function reload(path: string): Promise<void> {
    const text = await readFile(path, 'utf8');
    if (text !== lastText) {
      current = createOperatorTokens([...own, ...parseNamedTokens(text)]);
      // The first read only repeats what the settings had.
      if (lastText !== undefined) log.info({ path }, 'reloaded the file of operator tokens');
      lastText = text;
    }
    lastFailure = '';
  }

  function watch(path: string): void {
    if (closed) return;
    timer = clock.setTimer(() => {
      reload(path)
        .catch((error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error);
          if (reason !== lastFailure)
            log.warn({ path, reason }, 'cannot use the file of operator tokens; the previous tokens stay valid');
          lastFailure = reason;
        })
        .finally(() => watch(path));
    }, RELOAD_MS);
  }
  if (operatorTokens?.path !== undefined) watch(operatorTokens.path);

  return {
    identify: (token) => current.identify(token),
    operatorOf: (sha256) => current.operatorOf(sha256),
    close() {
      closed = true;
      timer?.cancel();
    },
  };
}
