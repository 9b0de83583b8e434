// grantd, OpenFGA and SpiceDB answer ten thousand questions each about the same rules and grants, and all agree.
// Another seed: `npm run fuzz -- rules --seed N`.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { installTool } from '../../../bench/compare/tools.ts';
import { reportMissing } from '../../../tools/engines/engine-script.ts';
import { compareAll } from '../compare.ts';
import { renderDifference, renderRun } from '../render.ts';
import { shrink } from '../shrink.ts';
import { startSystems } from '../systems.ts';

const SEED = 1;
const QUESTIONS = 10_000;
/** The others were refused for a limit of the peer, or are no questions to it. */
const ANSWERED_MIN = 0.8;
const NAMES = ['openfga', 'spicedb'] as const;

const missing = NAMES.some((name) => installTool(name) === undefined)
  ? reportMissing('rules compared with OpenFGA and SpiceDB', 'OpenFGA or SpiceDB cannot be built on this machine.')
  : undefined;

describe('grantd beside its peers', { skip: missing ?? false }, () => {
  test('gives the answers that they give', async (context) => {
    await using systems = await startSystems(NAMES);
    const { own, peers } = systems;
    const startMs = performance.now();
    const result = await compareAll(own, peers, { seed: SEED, questions: QUESTIONS, onCase: () => {} });
    const { difference, tallies } = result;
    const text =
      difference && (await renderDifference(difference, await shrink(own, difference.peer, difference), SEED));
    assert.equal(text, undefined);
    for (const [name, { asked, limits }] of tallies) {
      const refused = [...limits.values()].reduce((sum, count) => sum + count, 0);
      assert.ok(asked >= QUESTIONS && refused < (1 - ANSWERED_MIN) * asked, `${name}: ${asked}, refused ${refused}`);
    }
    context.diagnostic(renderRun(result, (performance.now() - startMs) / 1000));
  });
});
