// Questions that an attack asks in turn, over and over, on many connections, and what their answers must be.

import type { AttackRun } from './attack-run.ts';
import { postRequest, runClosedLoop } from './closed-loop.ts';

export interface AskedInTurn {
  readonly path: string;
  readonly body: object;
  /** How the only acceptable answer begins; undefined: the question exceeds a bound. */
  readonly start?: string;
}

/** A 503 is no answer, but no wrong one. */
export async function askInTurn(
  run: AttackRun,
  { url, key, connections }: { readonly url: string; readonly key: string; readonly connections: number },
  questions: readonly AskedInTurn[],
): Promise<void> {
  const requests = questions.map(({ path, body, start }) => ({
    text: postRequest(path, key, JSON.stringify(body)),
    start,
  }));
  let answered = 0;
  await runClosedLoop(run, {
    url,
    connections,
    requestOf: (number) => requests[number % requests.length]?.text ?? '',
    onResponse: (status, body, number) => {
      const start = requests[number % requests.length]?.start;
      run.expect(status, start === undefined ? [422, 503] : [200, 503], body);
      if (status !== 503) answered += 1;
      if (status !== 200) return;
      if (start === undefined || !body.startsWith(start)) run.reject(`a wrong response: ${body.slice(0, 300)}`);
    },
  });
  if (answered === 0) run.reject('nothing was answered');
}
