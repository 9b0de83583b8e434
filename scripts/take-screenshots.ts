// Takes the pictures of docs/images/ again: the console's pages over a simulated cluster, on a virtual clock and seeded
// randomness, so that a picture changes only if its page does. Needs Debian's Chromium.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { RULES_EXAMPLES } from '../packages/console/src/parts/rules-examples.ts';
import { BUILT_IN_PLANS } from '../src/core/plans.ts';
import type { MemberView, SlotView } from '../src/front/front.ts';
import { RulesText } from '../src/rules/rules-text.ts';
import { KEEP_OUTSIDE } from '../src/rules/rules-writes.ts';
import { NARROW, visitConsole } from '../test/browser/support/console-browser.ts';
import { OPERATOR_TOKEN, startConsole } from '../test/kit/console-service.ts';
import { VirtualClock } from '../test/kit/virtual-clock.ts';
import { SeededRandom } from '../test/simulation/seeded-random.ts';
import { missingChromium, openChromium } from '../tools/engines/chromium.ts';

const DIRECTORY = join(import.meta.dirname, '..', 'docs', 'images');
const WINDOW = { width: 1280, height: 800 };
const START = Date.UTC(2026, 10, 21, 9, 30);
const MINUTE_MS = 60_000;
const SHARDS = ['grantd-shard-0', 'grantd-shard-1', 'grantd-shard-2'];
const SLOTS = 256;
/** Samples in the hour that the console shows, one every five seconds. */
const LOOKS = 720;
const LOOK_MS = 5000;
/** A shard is lost and comes back; later a few slots move. */
const LOST_AT = 430;
const BACK_AT = 442;
const MOVED_AT = 640;

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

/** By shard: how often it has started; 0 while it is lost. */
const lives = SHARDS.map(() => 1);

function showCluster(look: number): void {
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
      readers: [],
    };
  });
  operator.members = SHARDS.map((shardName, index): MemberView => {
    const life = lives[index] ?? 0;
    const state = life === 0 ? ('dead' as const) : ('alive' as const);
    const incarnation = `inc_${index}_${Math.max(1, life)}`;
    const member = { incarnation, shardName, address: addressOf(shardName), state };
    const slotsOwned = owners.filter((owner) => owner === shardName).length;
    return {
      ...member,
      heartbeat: 1,
      startedAtMs: life === 2 ? clock.wallMs() - (look - BACK_AT) * LOOK_MS : START - (index + 2) * 26 * 60 * MINUTE_MS,
      leaseLeftMs: 2600 + index * 120,
      slotsOwned,
    };
  });
  const share = SHARDS.length / lives.filter((life) => life > 0).length;
  const calm = 0.8 + 0.2 * Math.sin(look / 60);
  const isCold = look >= LOST_AT && look < LOST_AT + 6;
  operator.loads = SHARDS.flatMap((shardName, index) => {
    if (lives[index] === 0) return [];
    const checksPerSecond = (2400 + index * 310 + (random.word() % 300)) * calm * share;
    return [
      {
        shardName,
        checksPerSecond,
        failuresPerSecond: 0,
        p99Ms: isCold ? 180 : 1.4 + index * 0.3 + (random.word() % 8) / 10,
      },
    ];
  });
}

/** A tenant with keys and grants; returns its id. */
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
      await session.call('writeGrants', context, [{ subject, relation, object, revoke: false }]);
    }
  }
  await session.call('writeGrants', context, [
    { subject: 'folder:2026', relation: 'parent', object: 'document:budget', revoke: false },
    { subject: 'team:design#member', relation: 'owner', object: 'folder:2026', revoke: false },
    { subject: 'user:dee', relation: 'member', object: 'team:design', revoke: false },
  ]);
  const documents = RULES_EXAMPLES.find(({ name }) => name === 'documents');
  if (documents !== undefined) {
    await session.call('writeRules', context, {
      rules: new RulesText(documents.text),
      ifMatch: undefined,
      outsideTypes: KEEP_OUTSIDE,
    });
  }
  return tenantId;
}

/** The usage of the tenant, until now. */
function useForAnHour(): void {
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
}

/** Loads go up and down; no page is open. */
async function passAnHour(): Promise<void> {
  const before = [...owners];
  for (let look = 0; look < LOOKS; look += 1) {
    if (look === LOST_AT) {
      lives[1] = 0;
      for (const [slot, owner] of owners.entries())
        if (owner === SHARDS[1]) owners[slot] = SHARDS[slot % 2 === 0 ? 0 : 2] ?? '';
    }
    if (look === BACK_AT) {
      lives[1] = 2;
      for (const [slot, owner] of before.entries()) owners[slot] = owner;
    }
    if (look === MOVED_AT) for (const slot of [3, 17, 58, 91, 130]) owners[slot] = SHARDS[2] ?? '';
    showCluster(look);
    await clock.advance(LOOK_MS);
  }
}

mkdirSync(DIRECTORY, { recursive: true });
const browser = await openChromium();
try {
  const tenantId = await fill();
  await passAnHour();
  useForAnHour();
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
  const base = `/tenants/${tenantId}`;
  await take(light, 'cluster', '/cluster');
  await take(dark, 'cluster-dark', '/cluster');
  await take(light, 'tenant', base);
  await take(dark, 'check', `${base}/check?subject=user%3Adee&relation=viewer&object=document%3Abudget`);
  await take(light, 'rules', `${base}/rules`);
  await take(narrow, 'keys-narrow', `${base}/keys`);
  await light.open(`${base}/keys`);
  await light.page.getByRole('textbox', { name: 'Name' }).fill('mobile app');
  await light.page.getByRole('button', { name: 'Create the key' }).click();
  await light.page.getByText('The key is shown only once').waitFor();
  await light.page.screenshot({ path: join(DIRECTORY, 'console-key.png'), fullPage: true, animations: 'disabled' });
} finally {
  await browser.close();
  await service.close();
}
