// Models in the languages of OpenFGA and SpiceDB, converted: grantd gives the answers of each peer to ten thousand
// questions. Another seed: `npm run fuzz -- models --seed N`.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { installTool } from '../../../bench/compare/tools.ts';
import { reportMissing } from '../../../tools/engines/engine-script.ts';
import { compareModels, renderModelRun } from '../models/compare.ts';
import { GrantdModels, MODEL_PEERS, startModelPeer } from '../models/systems.ts';

const SEED = 1;
const QUESTIONS = 10_000;
/** The others hang on what the peer is known to refuse or to answer otherwise. */
const SAME_MIN = 0.95;
/** A question that finds nothing says little. */
const YES_MIN = 0.4;

const missing = MODEL_PEERS.some((name) => installTool(name) === undefined)
  ? reportMissing('models compared with OpenFGA and SpiceDB', 'OpenFGA or SpiceDB cannot be built on this machine.')
  : undefined;

describe('grantd with the models of its peers', { skip: missing ?? false }, () => {
  let own: GrantdModels;
  before(async () => {
    own = await GrantdModels.start();
  });
  after(() => own.stop());

  for (const name of MODEL_PEERS) {
    test(`answers as ${name} does`, async (context) => {
      const peer = await startModelPeer(name);
      assert.ok(peer !== undefined);
      try {
        const run = await compareModels(own, peer, { seed: SEED, questions: QUESTIONS, dialect: name });
        assert.equal(run.difference, undefined);
        const otherwise = [...run.known.values()].reduce((sum, count) => sum + count, 0);
        assert.ok(run.asked >= QUESTIONS && otherwise < (1 - SAME_MIN) * run.asked, renderModelRun(name, run));
        assert.ok(run.yes > YES_MIN * run.asked, renderModelRun(name, run));
        context.diagnostic(renderModelRun(name, run));
      } finally {
        await peer.stop();
      }
    });
  }
});
