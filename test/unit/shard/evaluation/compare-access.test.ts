// Who loses and gains access, against the definition of what rules mean: nothing that is said may be wrong, and where
// nothing is said to be open, nothing may be missing and every count is exact.

import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import type { AccessSide, RevokedGrants } from '../../../../src/rules/access-changes.ts';
import { CompiledRules, parseGroup } from '../../../../src/rules/compiled-rules.ts';
import { isGate, type RuleSet, SELF } from '../../../../src/rules/rule-set.ts';
import { namesToAsk, RulesText } from '../../../../src/rules/rules-text.ts';
import type { NaiveGrant } from '../../../kit/naive-rules.ts';
import { type CaseKind, type RandomCase, randomCase, randomOf } from '../../rules/random-rules.ts';
import type { SlotOptions } from '../tools.ts';
import { Definition, grantOf, RuledSlot, relationOf } from './ruled-slot.ts';

const KINDS: readonly CaseKind[] = ['union', 'conditions', 'whole'];
const CASES = 20;

const STATES: readonly { readonly name: string; readonly cold: boolean; readonly options: SlotOptions }[] = [
  { name: 'everything in memory', cold: false, options: {} },
  {
    name: 'pages that are read in parts',
    cold: true,
    options: { pageLimits: { rowsPerRead: 1, readsBeforeWhole: 1_000_000 } },
  },
  {
    name: 'entities too large for a page',
    cold: true,
    options: { pageLimits: { rowsMax: 2, rowsPerRead: 1, rowsPerListing: 2 } },
  },
];

const matches = ({ subject, relation, object }: RevokedGrants, grant: NaiveGrant): boolean =>
  (subject ?? grant.subject) === grant.subject &&
  (relation ?? grant.relation) === grant.relation &&
  (object ?? grant.object) === grant.object;

function drawRevoked(grants: readonly NaiveGrant[], random: (count: number) => number): RevokedGrants {
  const { subject = '', relation = '', object = '' } = grants[random(grants.length)] ?? {};
  const own = relationOf(relation);
  const drawn: readonly RevokedGrants[] = [
    { subject, relation: own, object },
    { subject, relation: own, object },
    { subject },
    { object },
    { object, relation: own },
  ];
  return drawn[random(drawn.length)] ?? { subject };
}

interface Triple {
  readonly subject: string;
  readonly name: string;
  readonly object: string;
}

const textOf = ({ subject, name, object }: Triple): string => `${subject} ${name} ${object}`;

/** By the definition: what single subjects hold before and not after, and the reverse. */
function defined(
  of: RandomCase,
  [before, after]: readonly [Definition, Definition],
  names: readonly string[],
  to?: RuleSet,
) {
  const rules = new CompiledRules(of.ruleSet);
  const lost: Triple[] = [];
  const gained: Triple[] = [];
  for (const subject of of.subjects) {
    if ((of.ruleSet.groups || to?.groups === true) && parseGroup(subject) !== undefined) continue;
    for (const name of names) {
      for (const object of new Set([...of.objects, subject])) {
        if (to === undefined && rules.leadsToEntitiesOnly(object, rules.numberOf(name) ?? 0)) continue;
        const question = { subject, relation: name, object };
        const [had, has] = [before.truthOf(question), after.truthOf(question)];
        if (had === true && has === false) lost.push({ subject, name, object });
        if (had === false && has === true) gained.push({ subject, name, object });
      }
    }
  }
  return { lost, gained };
}

function assertSide(said: AccessSide, real: readonly Triple[], isKnown: boolean, what: string): void {
  if (said.byName) return;
  const truth = new Set(real.map(textOf));
  const single = said.rows.filter(({ isGroup }) => !isGroup);
  for (const { subjects, names, objects } of single) {
    const claimed = subjects.flatMap((subject) =>
      names.flatMap((name) => objects.map((object) => textOf({ subject, name, object }))),
    );
    assert.deepEqual(
      claimed.filter((text) => !truth.has(text)),
      [],
      `nothing is said that is not so: ${what}`,
    );
  }
  if (!isKnown) return;
  const distinct = (texts: readonly string[]): number => new Set(texts).size;
  const triples = single.reduce((sum, row) => sum + row.subjectCount * row.names.length * row.objectCount, 0);
  assert.deepEqual(
    { subjects: said.subjects, objects: said.objects, triples, left: said.rowsLeft },
    {
      subjects: distinct(real.map(({ subject }) => subject)),
      objects: distinct(real.map(({ object }) => object)),
      triples: truth.size,
      left: 0,
    },
    `every count is exact: ${what}`,
  );
}

for (const { name, cold, options } of STATES) {
  for (const kind of KINDS) {
    test(`a revocation under random rules: ${kind}, ${name}`, async () => {
      let known = 0;
      let changes = 0;
      for (let seed = 1; seed <= CASES; seed += 1) {
        const of = randomCase(seed, kind);
        if (of.grants.length === 0) continue;
        const revoked = drawRevoked(of.grants, randomOf(seed));
        const ruled = await RuledSlot.open({ rules: [] }, [], options);
        await ruled.setRuleSet(of.ruleSet);
        await ruled.write(of.grants);
        if (cold) await ruled.goCold();
        const said = await ruled.slot.connection.compareAccess(ruled.handle, revoked);
        const rest = of.grants.filter((grant) => !matches(revoked, grant));
        const states = [new Definition(of.ruleSet, of.grants), new Definition(of.ruleSet, rest)] as const;
        const real = defined(of, states, namesToAsk(of.ruleSet));
        const what = `seed ${seed}, without ${JSON.stringify(revoked)}, open: ${said.open.join()}`;
        const isKnown = said.open.length === 0;
        assertSide(said.lost, real.lost, isKnown, what);
        assertSide(said.gained, real.gained, isKnown, what);
        if (isKnown) known += 1;
        changes += isKnown ? real.lost.length + real.gained.length : 0;
      }
      assert.ok(known > CASES / 4 && changes > CASES / 2, `some are known, and take something: ${known}, ${changes}`);
    });
  }
}

/** Where rules use `self`, entities without a grant hold names too: then nothing is known. */
const withoutSelf = ({ rules, ...rest }: RuleSet): RuleSet => ({
  ...rest,
  rules: rules.map(({ anyOf, ...rule }) => {
    const others = anyOf.filter((element) => isGate(element) || element.name !== SELF);
    return { ...rule, anyOf: others.length > 0 ? others : [{ name: 'viewer', from: undefined }] };
  }),
});

for (const kind of KINDS) {
  test(`a change of random rules: ${kind}`, async () => {
    let known = 0;
    let changes = 0;
    for (let seed = 1; seed <= CASES; seed += 1) {
      const drawn = randomCase(seed, kind);
      const of = { ...drawn, ruleSet: withoutSelf(drawn.ruleSet) };
      const other = withoutSelf(randomCase(seed + 1000, kind).ruleSet);
      // Mostly a small change, and sometimes another model.
      const kept = other.rules.filter((_, index) => index % 4 === 0);
      const from = of.ruleSet;
      const named = new Set(kept.map(({ namespace, name }) => `${namespace} ${name}`));
      const rules = [...from.rules.filter(({ namespace, name }) => !named.has(`${namespace} ${name}`)), ...kept];
      // States that have grants stay.
      const states = [...new Set([...from.states, ...other.states])];
      const to = { ...(seed % 3 === 0 ? other : { ...from, rules }), states };
      const ruled = await RuledSlot.open({ rules: [] });
      await ruled.setRuleSet(from);
      await ruled.write(of.grants);
      const request = { rules: RulesText.of(to), ifMatch: undefined, outsideTypes: 'keep' } as const;
      const preview = await ruled.slot.connection.previewRules(ruled.handle, request).catch(() => undefined);
      if (preview?.access === undefined) continue;
      const { access, vanishing } = preview;
      const both = [new Definition(from, of.grants), new Definition(to, of.grants)] as const;
      const left = new Set(namesToAsk(to));
      const names = vanishing.map(({ name }) => name);
      assert.deepEqual(new Set(names), new Set(namesToAsk(from).filter((name) => !left.has(name))));
      const real = defined(of, both, namesToAsk(from), to);
      const what = `seed ${seed}, open: ${access.open.join()}`;
      const isKnown = access.open.length === 0;
      assertSide(access.lost, real.lost, isKnown, what);
      assertSide(access.gained, real.gained, isKnown, what);
      if (isKnown) known += 1;
      changes += isKnown ? real.lost.length + real.gained.length : 0;
    }
    // Most of the whole model rests on conditions.
    assert.ok(
      kind === 'whole' || (known > 0 && changes > 0),
      `some are known, and take something: ${known}, ${changes}`,
    );
  });
}

/** A row of single subjects, in one line. */
const linesOf = ({ rows }: AccessSide): readonly string[] =>
  rows.map(({ subjects, names, objects, isGroup, members }) => {
    const who = isGroup ? `members of ${subjects.join()} (${members})` : subjects.join();
    return `${who}: ${names.join()} on ${objects.join()}`;
  });

describe('a revocation of a team', () => {
  const rules = {
    rules: [
      { namespace: 'document', name: 'can_read', any_of: ['viewer', 'viewer from parent'] },
      { namespace: 'document', name: 'can_sign', any_of: [{ all_of: ['can_read'], but_not: ['guest'] }] },
      { namespace: 'document', name: 'can_seal', any_of: ['all of viewer from parent'] },
    ],
    groups: true,
    public: ['user'],
  };
  const team = ['user:ada member team:eng', 'user:bob member team:eng', 'team:eng#member viewer folder:1'];
  const children = ['folder:1 parent document:1', 'folder:1 parent document:2'];
  const said = async (grants: readonly string[], without: string, own: object = rules) => {
    const ruled = await RuledSlot.open(own, grants.map(grantOf));
    const { subject, relation, object } = grantOf(without);
    const revoked = { subject, relation: relationOf(relation), object };
    const { lost, gained, open } = await ruled.slot.connection.compareAccess(ruled.handle, revoked);
    return { counts: [lost.subjects, lost.objects], lost: linesOf(lost), gained: linesOf(gained), open };
  };
  const NAMES = 'can_read,can_sign,can_seal';

  it('names people and documents, but for those who hold them otherwise, and the team with its people', async () => {
    assert.deepEqual(
      await said([...team, ...children, 'user:bob viewer folder:1'], 'team:eng#member viewer folder:1'),
      {
        counts: [1, 3],
        lost: [
          'user:ada: viewer on folder:1',
          `user:ada: ${NAMES} on document:1,document:2`,
          'members of team:eng#member (2): viewer on folder:1',
          `members of team:eng#member (2): ${NAMES} on document:1,document:2`,
        ],
        gained: [],
        open: [],
      },
    );
  });

  it('takes nothing where everything is held otherwise, and from nobody where the team is empty', async () => {
    const grants = ['user:ada viewer document:1', 'user:ada viewer folder:1', 'user:ada member team:eng'];
    const nothing = await said(grants, 'user:ada member team:eng');
    assert.deepEqual([nothing.counts, nothing.lost], [[1, 1], ['user:ada: member on team:eng']]);
    const empty = await said(team.slice(2), 'team:eng#member viewer folder:1');
    assert.deepEqual(empty, {
      counts: [0, 0],
      lost: ['members of team:eng#member (0): viewer on folder:1'],
      gained: [],
      open: [],
    });
  });

  it('takes from those who hold a name on a parent, without the sets that nobody granted to', async () => {
    const { counts, lost } = await said([...team, ...children], 'folder:1 parent document:2');
    assert.deepEqual(counts, [2, 1]);
    assert.deepEqual(lost, [
      `user:ada,user:bob: ${NAMES} on document:2`,
      `members of team:eng#member (2): ${NAMES} on document:2`,
    ]);
  });

  it('gives where a rule takes away, and where one parent of several was in the way', async () => {
    const grants = ['user:ada viewer document:1', 'user:ada guest document:1', 'user:eve viewer document:1'];
    const one = await said(grants, 'user:ada guest document:1');
    assert.deepEqual(
      [one.lost, one.gained, one.open],
      [['user:ada: guest on document:1'], ['user:ada: can_sign on document:1'], []],
    );
    const parents = ['user:ada viewer folder:1', ...children, 'folder:2 parent document:1'];
    assert.deepEqual((await said(parents, 'folder:2 parent document:1')).gained, ['user:ada: can_seal on document:1']);
  });

  it('is not known where everyone may be concerned, or a condition decides', async () => {
    const everyone = await said(['user:ada viewer document:1', 'user:* viewer document:1'], 'user:* viewer document:1');
    assert.deepEqual(everyone.open, ['everyone']);
    const conditions = [{ name: 'late', parameters: { hour: 'int' }, expression: 'hour > 20' }];
    const ruled = await RuledSlot.open({ ...rules, conditions });
    const grant = { subject: 'user:ada', relation: 'viewer', object: 'document:1' } as const;
    await ruled.slot.connection.writeGrants(ruled.handle, ruled.slot.attempt(), [
      { ...grant, condition: 'late', revoke: false },
    ]);
    const { lost, open } = await ruled.slot.connection.compareAccess(ruled.handle, grant);
    assert.deepEqual([lost.rows, open], [[], ['undecided']]);
  });
});

describe('a drive with thousands of grants', () => {
  const LEVELS = ['owner', 'editor', 'commenter', 'viewer'] as const;
  const above = (index: number): string[] => (index === 0 ? [] : [LEVELS[index - 1] ?? '']);
  const levelsOf = (namespace: string) =>
    LEVELS.map((name, index) => ({ namespace, name, any_of: [...above(index), `${name} from parent`] }));
  const rules = {
    relations: ['trashed'],
    rules: [
      ...[...levelsOf('folder'), ...levelsOf('doc')],
      { namespace: 'doc', name: 'can_read', any_of: [{ all_of: ['viewer'], but_not: ['trashed'] }] },
      { namespace: 'doc', name: 'can_edit', any_of: [{ all_of: ['editor'], but_not: ['trashed'] }] },
    ],
    groups: true,
    public: [],
  };
  const LISTED = ['viewer', 'can_read'] as const;
  const DOCUMENTS = 1200;
  const random = randomOf(58);
  const grants = [
    'folder:f0 parent folder:f1',
    ...[2, 3, 4].map((folder) => `folder:f1 parent folder:f${folder}`),
    ...Array.from(
      { length: DOCUMENTS },
      (_, doc) => `folder:f${doc % 2 === 0 ? 1 + random(4) : 5 + random(15)} parent doc:d${doc}`,
    ),
    ...Array.from({ length: 7 }, (_, user) => `user:u${user} ${LEVELS[user % 4]} folder:f0`),
    ...Array.from({ length: 5 }, (_, user) => `user:u${10 + user} member team:t`),
    'team:t#member commenter folder:f0',
    // One of them has the folder below, too.
    'user:u14 owner folder:f1',
    ...Array.from({ length: 4000 }, () => `user:u${random(300)} ${LEVELS[random(4)]} doc:d${random(DOCUMENTS)}`),
  ];

  it('loses what a listing before lists and one after does not, for everyone', async () => {
    const ruled = await RuledSlot.open(rules, [...new Set(grants)].map(grantOf));
    const revoked = { subject: 'folder:f0', relation: 'parent', object: 'folder:f1' } as const;
    const { lost, gained, open } = await ruled.slot.connection.compareAccess(ruled.handle, revoked);
    const losers = [...Array(7).keys(), 10, 11, 12, 13].map((user) => `user:u${user}`);
    const holders = async (): Promise<readonly string[]> =>
      (await Promise.all(LEVELS.map((name) => ruled.holders('folder:f1', name, 1000)))).flat();
    const held = async (): Promise<ReadonlySet<string>> => {
      const found = new Set<string>();
      for (const user of losers) {
        for (const name of LISTED) {
          for (const object of await ruled.objects(user, name, 1000)) found.add(`${user} ${name} ${object}`);
        }
      }
      return found;
    };
    const [holdersBefore, before] = [await holders(), await held()];
    await ruled.write([{ ...revoked }], true);
    const [holdersAfter, after] = [new Set(await holders()), await held()];
    const people = (texts: readonly string[]) => new Set(texts.filter((text) => text.startsWith('user:')));
    assert.deepEqual([...people(holdersBefore)].filter((user) => !holdersAfter.has(user)).sort(), losers.toSorted());
    const gone = [...before].filter((text) => !after.has(text)).map((text) => text.split(' '));
    const distinct = (texts: readonly (string | undefined)[]): number => new Set(texts).size;
    const rowOf = (name: string) => {
      const row = lost.rows.find(({ names, isGroup }) => !isGroup && names.includes(name));
      return [name, row?.subjectCount, row?.objectCount];
    };
    assert.deepEqual(
      [lost.subjects, lost.objects, gained.subjects, open, lost.byName, ...LISTED.map(rowOf)],
      [
        ...[losers.length, distinct(gone.map(([, , object]) => object)), 0, [], true],
        ...LISTED.map((name) => {
          const of = gone.filter(([, lostName]) => lostName === name);
          return [name, distinct(of.map(([user]) => user)), distinct(of.map(([, , object]) => object))];
        }),
      ],
    );
  });
});
