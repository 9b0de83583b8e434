// Takes the pictures of docs/images/ anew: the console's pages over a cluster that is made up here, on a clock that stands
// still and randomness from a seed, so that a picture changes only where a page does. Needs Debian's Chromium.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { BUILT_IN_PLANS } from '../src/core/plans.ts';
import type { MemberView, SlotView } from '../src/front/front.ts';
import { SeededRandom } from '../test/simulation/seeded-random.ts';
import { missingChromium, openChromium } from '../test/support/chromium.ts';
import { NARROW, visitConsole } from '../test/support/console-browser.ts';
import { OPERATOR_TOKEN, startConsole } from '../test/support/console-service.ts';
import { VirtualClock } from '../test/support/virtual-clock.ts';

const DIRECTORY = join(import.meta.dirname, '..', 'docs', 'images');
const WINDOW = { width: 1280, height: 800 };
const START = Date.UTC(2026, 10, 21, 9, 30);
const MINUTE_MS = 60_000;
const SHARDS = ['grantd-shard-0', 'grantd-shard-1', 'grantd-shard-2'];
const SLOTS = 256;
const LOOKS = 40;

const missing = await missingChromium('the pictures');
if (missing !== undefined) throw new Error(missing);

const clock = new VirtualClock();
clock.wallOffsetMs = START - clock.monotonicMs();
const random = new SeededRandom('pictures');
const owners = Array.from({ length: SLOTS }, () => SHARDS[random.word() % SHARDS.length] ?? '');
const lags = Array.from({ length: SLOTS }, () => (random.word() % 8 === 0 ? random.word() % 5 : 0));
const context = { requestId: 'req_00000000000000000000000000', deadlineMs: Number.MAX_VALUE };
const service = await startConsole({ clock, random });
const { operator } = service;
const addressOf = (shardName: string): string => `10.0.0.${SHARDS.indexOf(shardName) + 11}:8082`;

function showCluster(): void {
  operator.slots = owners.map((shardName, slot): SlotView => {
    const logEnd = 1000 + slot * 7;
    const place = { slot, state: 'serving' as const, epoch: 3, shardName, address: addressOf(shardName) };
    return {
      ...place,
      incarnation: undefined,
      leaseLeftMs: 2700,
      logEnd,
      checkpoint: logEnd - (lags[slot] ?? 0),
      tenants: 4,
    };
  });
  operator.members = SHARDS.map((shardName, index): MemberView => {
    const member = { incarnation: `inc_${index}`, shardName, address: addressOf(shardName), state: 'alive' as const };
    const slotsOwned = owners.filter((owner) => owner === shardName).length;
    return {
      ...member,
      beat: 1,
      startedAtMs: START - (index + 2) * 26 * 60 * MINUTE_MS,
      leaseLeftMs: 2600 + index * 120,
      slotsOwned,
    };
  });
  operator.loads = SHARDS.map((shardName, index) => ({
    shardName,
    checksPerSecond: 2400 + index * 310 + (random.word() % 400),
    failuresPerSecond: 0,
    p99Ms: 1.4 + index * 0.3,
  }));
}

/** A tenant with keys, grants and an hour of use; gives its id. */
async function fill(): Promise<string> {
  const names = ['Acme', 'Globex', 'Initech', 'Northwind Traders', 'Umbrella Logistics', 'Wayne Health'];
  const plans = [...BUILT_IN_PLANS.keys()];
  for (const [index, name] of names.entries()) {
    await operator.createTenant(context, { name, plan: plans[index % plans.length] ?? 'free', operator: 'alice' });
    clock.stall(31 * MINUTE_MS);
  }
  const { tenantId } = await operator.createTenant(context, { name: 'Soylent', plan: 'free', operator: 'alice' });
  const session = await operator.tenant(context, tenantId, 'alice');
  await session.createKey(context, { name: 'web', scopes: 1, expiresAtMs: undefined });
  await session.createKey(context, { name: 'sync job', scopes: 3, expiresAtMs: START + 90 * 24 * 60 * MINUTE_MS });
  for (const subject of ['user:ada', 'user:bob', 'user:cyd', 'team:design', 'service:indexer']) {
    for (const object of ['document:plan', 'document:roadmap', 'folder:2026']) {
      clock.stall(MINUTE_MS);
      const relation = subject.startsWith('user') ? ('viewer' as const) : ('editor' as const);
      await session.writeGrants(context, [{ subject, relation, object, revoke: false }]);
    }
  }
  const nowMs = Math.floor(clock.wallMs() / MINUTE_MS) * MINUTE_MS;
  operator.usage = Array.from({ length: 60 }, (_, index) => {
    const requests = Math.round(330 + 190 * Math.sin(index / 9) + (random.word() % 70) + (index > 48 ? 170 : 0));
    return {
      atMs: nowMs - (59 - index) * MINUTE_MS,
      requests,
      refused: Math.max(0, requests - 600),
      checks: requests - 20,
    };
  });
  return tenantId;
}

mkdirSync(DIRECTORY, { recursive: true });
const browser = await openChromium();
try {
  const tenantId = await fill();
  showCluster();
  const options = { token: OPERATOR_TOKEN, viewport: WINDOW };
  await using light = await visitConsole(browser, service.url, { ...options, colorScheme: 'light' });
  await using dark = await visitConsole(browser, service.url, { ...options, colorScheme: 'dark' });
  await using narrow = await visitConsole(browser, service.url, { ...options, colorScheme: 'light', viewport: NARROW });
  const take = async (visit: typeof light, name: string, path: string): Promise<void> => {
    await visit.open(path);
    await visit.page.screenshot({
      path: join(DIRECTORY, `console-${name}.png`),
      fullPage: true,
      animations: 'disabled',
    });
  };
  // Some minutes of an open page: loads go up and down, and a few slots move.
  for (let look = 0; look < LOOKS; look += 1) {
    clock.stall(2000);
    if (look === LOOKS - 9) for (const slot of [3, 17, 58, 91, 130]) owners[slot] = SHARDS[2] ?? '';
    if (look === LOOKS - 3) owners[200] = owners[200] === SHARDS[0] ? (SHARDS[1] ?? '') : (SHARDS[0] ?? '');
    showCluster();
    await light.open('/cluster');
  }
  const base = `/tenants/${tenantId}`;
  await take(light, 'cluster', '/cluster');
  await take(dark, 'cluster-dark', '/cluster');
  await take(light, 'tenant', base);
  await take(dark, 'check', `${base}/check?subject=user%3Aada&relation=viewer&object=document%3Aplan`);
  await take(narrow, 'keys-narrow', `${base}/keys`);
  await light.open(`${base}/keys`);
  await light.page.getByRole('textbox', { name: 'Name' }).fill('mobile app');
  await light.page.getByRole('button', { name: 'Create the key' }).click();
  await light.page.getByText('It is shown this once').waitFor();
  await light.page.screenshot({ path: join(DIRECTORY, 'console-key.png'), fullPage: true, animations: 'disabled' });
} finally {
  await browser.close();
  await service.close();
}
