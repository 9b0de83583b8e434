// Conversions of typical models: their rules, relation maps and findings.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MapOption, Origin } from '../../../packages/cli/src/converter.ts';
import { type Conversion, convertModel } from '../../../packages/convert/src/model/conversion.ts';
import { parseModelFile } from '../../../packages/convert/src/model/model-reader.ts';
import { type Finding, joinDeclarations } from '../../../packages/convert/src/model/source-model.ts';
import { CompiledRules } from '../../../src/rules/compiled-rules.ts';
import { compileConditions } from '../../../src/rules/conditions/compiled-condition.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { textOfElement, textOfSubjectType } from '../../../src/rules/rule-set.ts';
import {
  CHANNEL_FGA,
  CHAT_FGA,
  CODE_HOST_FGA,
  DRIVE_FGA,
  DRIVE_ZED,
  ENTITLEMENTS_FGA,
  LIMITED_ZED,
} from './samples.ts';

const mapOption = (text: string): MapOption => {
  const [, type, name = '', relation] = /^(?:(\w+)#)?(\w+)=(\w+)$/.exec(text) ?? [];
  return { type, name, relation: relation as MapOption['relation'] };
};

function convert(texts: readonly string[], origin: Origin = 'openfga', options: readonly string[] = []): Conversion {
  const declarations = texts.map((text, index) => parseModelFile(`file${index}`, text, origin));
  return convertModel(joinDeclarations(declarations), options.map(mapOption));
}

/** `document.viewer = editor | viewer from parent`. The service would take the rules and compile them. */
function rulesOf({ rules }: Conversion): string[] {
  const ruleSet = parseRuleSet(rules);
  compileConditions(ruleSet.conditions);
  assert.ok(new CompiledRules(ruleSet));
  return ruleSet.rules.map(
    ({ namespace, name, anyOf }) => `${namespace}.${name} = ${anyOf.map(textOfElement).join(' | ')}`,
  );
}

/** `document.viewer: user, team#member`. */
const typesOf = ({ rules }: Conversion): string[] =>
  parseRuleSet(rules).types.map(
    ({ namespace, relation, subjects }) => `${namespace}.${relation}: ${subjects.map(textOfSubjectType).join(', ')}`,
  );

/** Relations whose grants have another name. */
const renamedIn = ({ mapped }: Conversion): string[] =>
  mapped
    .filter(({ name, relation }) => name !== relation)
    .map(({ type, name, relation }) => `${type}#${name} ${relation}`);
const lostLines = (findings: readonly Finding[]): number[] =>
  findings.filter(({ lost }) => lost !== undefined).map(({ place }) => place.line);
const textsOf = ({ findings }: Conversion): string =>
  findings.map(({ place, text }) => `${place.line}: ${text}`).join('\n');
const model = (...lines: readonly string[]): string => `model\n  schema 1.1\n${lines.join('\n')}\n`;

describe('models of OpenFGA', () => {
  it('a drive keeps its names, and carries what each relation can be granted to', () => {
    const conversion = convert([DRIVE_FGA]);
    assert.deepEqual(rulesOf(conversion), [
      'folder.viewer = owner | viewer from parent',
      'folder.can_create_file = owner',
      'doc.can_read = viewer | owner | viewer from parent',
      'doc.can_write = owner | owner from parent',
    ]);
    assert.deepEqual(typesOf(conversion).slice(0, 4), [
      'group.member: user, group#member',
      'folder.parent: folder',
      'folder.owner: user',
      'folder.viewer: user, user:*, group#member',
    ]);
    const { relations, groups, public: open } = parseRuleSet(conversion.rules);
    assert.deepEqual([relations, groups, open], [[], true, ['user']]);
    assert.deepEqual([conversion.findings, renamedIn(conversion)], [[], []]);
  });

  it('a code host has relations of its own', () => {
    const conversion = convert([CODE_HOST_FGA]);
    assert.deepEqual(parseRuleSet(conversion.rules).relations, [
      'repo_admin',
      'repo_reader',
      'organization',
      'maintainer',
      'writer',
      'triager',
      'reader',
    ]);
    assert.ok(rulesOf(conversion).includes('repo.reader = triager | repo_reader from organization'));
    const chosen = convert([CODE_HOST_FGA], 'openfga', ['repo#reader=viewer', 'writer=editor']);
    assert.deepEqual(renamedIn(chosen), ['repo#writer editor', 'repo#reader viewer']);
    assert.ok(rulesOf(chosen).includes('repo.viewer = triager | repo_reader from organization'));
  });

  it('a chat in modules is joined, in any order of the files', () => {
    const conversion = convert([CHAT_FGA, CHANNEL_FGA]);
    assert.deepEqual(rulesOf(conversion).toSorted(), [
      'channel.can_manage = channels_admin from parent_workspace',
      'channel.viewer = writer',
      'workspace.channels_admin = legacy_admin',
      'workspace.member = channels_admin',
    ]);
    assert.deepEqual(rulesOf(convert([CHANNEL_FGA, CHAT_FGA])).toSorted(), rulesOf(conversion).toSorted());
    assert.throws(() => convert([CHAT_FGA]), /file0:10:13: "channel" is extended here but not defined/);
  });

  it('entitlements exclude, intersect and have conditions', () => {
    const conversion = convert([ENTITLEMENTS_FGA]);
    assert.deepEqual(conversion.findings, []);
    assert.deepEqual(rulesOf(conversion), [
      'plan.subscriber_member = member from subscriber',
      'feature.access = subscriber_member from associated_plan',
      'feature.allowed = (access but not blocked)',
      'feature.trusted = (access and allowed)',
      'feature.shown = trusted | access',
    ]);
    assert.ok(typesOf(conversion).includes('organization.member: user, user with recent'));
    assert.deepEqual(parseRuleSet(conversion.rules).conditions, [
      {
        name: 'recent',
        parameters: { at: 'timestamp', now: 'timestamp' },
        expression: 'now < at + duration("24h") // a day',
      },
    ]);
  });
});

describe('schemas of SpiceDB', () => {
  it('a drive keeps its names', () => {
    const conversion = convert([DRIVE_ZED], 'spicedb');
    assert.deepEqual(rulesOf(conversion), [
      'folder.view = reader | owner | view from parent',
      'document.edit = owner | writer',
      'document.edit_all = (self but not self)',
      'document.view = reader | edit | view from parent',
    ]);
    assert.deepEqual(
      conversion.findings.map(({ place, text, lost }) => [place.line, text, lost]),
      [
        [
          19,
          '"document#writer" takes relationships that expire. grantd does not require an expiration of its grants.',
          undefined,
        ],
      ],
    );
  });

  it('exclude, intersect, and have caveats, .all() and self', () => {
    const conversion = convert([LIMITED_ZED], 'spicedb');
    assert.deepEqual(lostLines(conversion.findings), []);
    assert.deepEqual(rulesOf(conversion), [
      'user.profile = self',
      'document.view = (owner or visitor but not banned)',
      'document.both = (owner and banned)',
      'document.each = all of member from team',
      'document.rest = (each but not (banned and owner))',
      'document.list = owner | view | each',
    ]);
    assert.ok(typesOf(conversion).includes('document.visitor: user with in_office, user'));
  });

  it('with prefixes get namespaces and conditions without a slash', () => {
    const conversion = convert(
      [
        'caveat acme/sunny(sky string) { sky == "blue" }\ndefinition acme/user {}\ndefinition acme/doc { relation viewer: acme/user with acme/sunny | acme/doc#viewer\n permission view = viewer }',
      ],
      'spicedb',
    );
    assert.deepEqual(rulesOf(conversion), ['acme.doc.view = viewer']);
    assert.deepEqual(typesOf(conversion), ['acme.doc.viewer: acme.user with acme.sunny, acme.doc#viewer']);
    assert.throws(
      () => convert([model('type a/b', 'type a.b')]),
      /file0:4:6: "a\.b" and "a\/b" would be one namespace/,
    );
  });
});

describe('a conversion', () => {
  it('gives the grants of a relation a name of their own where they are not enough', () => {
    const text = model(
      'type user',
      'type doc',
      '  relations',
      '    define guest: [user]',
      '    define viewer: [user, doc#viewer] but not guest',
      '    define direct_viewer: guest',
      '    define can_read: viewer',
    );
    const conversion = convert([text]);
    assert.deepEqual(renamedIn(conversion), ['doc#viewer direct_viewer_2']);
    assert.deepEqual(rulesOf(conversion), [
      'doc.viewer = (direct_viewer_2 but not guest)',
      'doc.direct_viewer = guest',
      'doc.can_read = viewer',
    ]);
    // A group is named by what it means; and a grant of what is only computed would go around the gate.
    assert.deepEqual(typesOf(conversion), ['doc.guest: user', 'doc.direct_viewer_2: user, doc#viewer', 'doc.viewer: ']);
    assert.deepEqual(renamedIn(convert([text], 'openfga', ['viewer=member'])), ['doc#viewer member']);
  });

  it('lets nobody grant a name that only follows from others, if another type can', () => {
    const text = model(
      'type user',
      'type team',
      '  relations',
      '    define assignee: [user]',
      'type doc',
      '  relations',
      '    define team: [team]',
      '    define assignee: assignee from team',
      '    define admin: assignee',
    );
    assert.deepEqual(typesOf(convert([text])), [
      'team.assignee: user',
      'doc.team: team',
      'doc.assignee: ',
      'doc.admin: ',
    ]);
  });

  it('takes no name that is one of the type already', () => {
    const text = model(
      'type user',
      'type doc',
      '  relations',
      '    define reader: [user]',
      '    define viewer: reader',
    );
    assert.throws(
      () => convert([text], 'openfga', ['reader=viewer']),
      /"viewer" and "reader" of "doc" would both be "viewer"/,
    );
  });

  it('gives parts of what is nested too deep names of their own', () => {
    const nest = (depth: number): string => (depth === 0 ? 'a' : `(b and (c or ${nest(depth - 1)}))`);
    const text = model(
      'type user',
      'type doc',
      '  relations',
      ...['a', 'b', 'c'].map((name) => `    define ${name}: [user]`),
      `    define deep: ${nest(4)}`,
    );
    assert.deepEqual(rulesOf(convert([text])), [
      'doc.deep.part = (c or (b and (c or a)))',
      'doc.deep = (b and (c or (b and (c or (b and deep.part)))))',
    ]);
  });

  it('keeps what a part that is lost would take away from being allowed', () => {
    const text = (but: string): string =>
      `use self\ncaveat odd(a int) { a.odd() }\ndefinition user { permission me = self }\ndefinition doc {\n  relation parent: user | doc\n  relation viewer: user\n  relation banned: user with odd\n  relation guest: user | doc#hidden\n  permission hidden = banned\n  permission view = ${but}\n}`;
    for (const [expression, expected] of [
      ['viewer - banned', '(self but not self)'],
      ['viewer - hidden', '(self but not self)'],
      ['viewer - parent->me', '(viewer but not me from parent)'],
      // Groups of whom fewer hold the name.
      ['viewer - guest', '(self but not self)'],
      ['viewer & banned', '(viewer and banned)'],
      ['(viewer - banned) + guest', 'guest'],
      ['viewer - (guest - banned)', '(self but not self)'],
      ['viewer + guest', 'viewer | guest'],
    ] as const) {
      const conversion = convert([text(expression)], 'spicedb');
      assert.equal(rulesOf(conversion).at(-1), `doc.view = ${expected}`, expression);
      assert.match(textsOf(conversion), /^2: The condition "odd" cannot be evaluated: "expression" /m);
      assert.match(textsOf(conversion), /^7: "doc#banned" cannot be granted to "user with odd"/m);
      assert.ok(typesOf(conversion).includes('doc.banned: '));
    }
  });

  it('refuses a --map for what is not defined, or not granted', () => {
    const text = model(
      'type user',
      'type doc',
      '  relations',
      '    define viewer: [user]',
      '    define can_read: viewer',
    );
    assert.throws(
      () => convert([text], 'openfga', ['vewer=viewer']),
      /"vewer" of the model, which is not defined there/,
    );
    assert.throws(() => convert([text], 'openfga', ['user#viewer=viewer']), /"viewer" of "user", which is not defined/);
    assert.throws(() => convert([text], 'openfga', ['doc#can_read=viewer']), /"can_read" of "doc", which only follows/);
  });

  it('does not follow a relation to what another type calls by the same name', () => {
    const text = model(
      'type user',
      'type folder',
      '  relations',
      '    define reader: [user]',
      'type team',
      '  relations',
      '    define viewer: [user]',
      'type doc',
      '  relations',
      '    define parent: [folder, team]',
      '    define can_read: reader from parent',
    );
    const conversion = convert([text], 'openfga', ['folder#reader=viewer']);
    assert.deepEqual(
      [lostLines(conversion.findings), rulesOf(conversion)],
      [[13], ['doc.can_read = (self but not self)']],
    );
    const kept = convert([text]);
    assert.deepEqual([lostLines(kept.findings), rulesOf(kept)], [[], ['doc.can_read = reader from parent']]);
  });

  it('follows a relation under each name that its types have for it', () => {
    const text = model(
      'type user',
      'type folder',
      '  relations',
      '    define reader: [user]',
      'type team',
      '  relations',
      '    define member: [user]',
      '    define reader: member',
      'type doc',
      '  relations',
      '    define parent: [folder, team, user]',
      '    define can_read: reader from parent',
    );
    assert.deepEqual(rulesOf(convert([text], 'openfga', ['folder#reader=viewer'])), [
      'team.reader = member',
      'doc.can_read = viewer from parent | reader from parent',
    ]);
  });

  it('follows only what is granted, to single entities', () => {
    const zed = (subjects: string, walk = 'parent->member'): string =>
      `definition user {}\ndefinition team {\n relation member: user\n}\ndefinition doc {\n relation parent: ${subjects}\n permission view = ${walk}\n}\n`;
    assert.deepEqual(lostLines(convert([zed('team')], 'spicedb').findings), []);
    for (const subjects of ['team | team#member', 'team | team:*']) {
      const conversion = convert([zed(subjects)], 'spicedb');
      assert.deepEqual(lostLines(conversion.findings), [7], subjects);
      assert.match(textsOf(conversion), /rules only follow single entities/);
      assert.deepEqual(rulesOf(conversion), ['doc.view = member from parent']);
      // Which of all others would have to hold it is not known.
      assert.deepEqual(rulesOf(convert([zed(subjects, 'parent.all(member)')], 'spicedb')), [
        'doc.view = (self but not self)',
      ]);
    }
    const derived = model(
      'type user',
      'type team',
      '  relations',
      '    define member: [user]',
      'type doc',
      '  relations',
      '    define owner: [team]',
      '    define parent: owner',
      '    define viewer: member from parent',
    );
    assert.deepEqual(lostLines(convert([derived]).findings), [11]);
  });

  it('points out a state where a relation is only granted to everyone', () => {
    const zed = (archived: string): string =>
      `definition user {}\ndefinition bot {}\ndefinition doc {\n relation archived: ${archived}\n permission hidden = archived\n}\n`;
    const findingsOf = (archived: string) =>
      convert([zed(archived)], 'spicedb').findings.map(({ place, text, lost }) => [place.line, text, lost]);
    assert.deepEqual(findingsOf('user:* | bot:*'), [
      [
        4,
        '"doc#archived" is only granted to "user:*" and "bot:*". If it is about the object alone, a state of it would hold for every kind of subject.',
        undefined,
      ],
    ]);
    for (const archived of ['user', 'user | user:*', 'user:* | bot'])
      assert.deepEqual(findingsOf(archived), [], archived);
    assert.deepEqual(
      typesOf(convert([zed('user:* | bot:*')], 'spicedb')).filter((each) => each.startsWith('doc.')),
      ['doc.archived: user:*, bot:*'],
    );
  });

  it('refuses names that grantd cannot have, and rules above the limits', () => {
    assert.throws(() => convert([`definition ${'a/'.repeat(40)}user {}`], 'spicedb'), /file0:1:12: the type "a\/a\//);
    assert.throws(
      () =>
        convert([model('type user', 'type doc', '  relations', '    define viewer: [user]', '    define _x: viewer')]),
      /file0:7:12: "_x" of "doc"/,
    );
    const many = (count: number): string =>
      model(
        'type user',
        'type doc',
        '  relations',
        '    define viewer: [user]',
        ...Array.from({ length: count }, (_, index) => `    define x${index}: viewer`),
      );
    assert.equal(rulesOf(convert([many(1000)])).length, 1000);
    assert.throws(() => convert([many(1001)]), /one more rule than the 1000/);
  });

  it('refuses more granted relations than a tenant may have', () => {
    const many = (count: number): string =>
      model(
        'type user',
        'type role',
        '  relations',
        ...Array.from({ length: count }, (_, index) => `    define can${index}: [user]`),
        '    define viewer: [user]',
      );
    assert.equal(parseRuleSet(convert([many(1000)]).rules).relations.length, 1000);
    assert.throws(
      () => convert([many(1001)]),
      /1001 relations that are granted, besides the built-in ones; a tenant may have 1000/,
    );
    assert.equal(parseRuleSet(convert([many(1001)], 'openfga', ['can7=guest']).rules).relations.length, 1000);
  });

  it('refuses names that would not show in a message', () => {
    for (const name of ['', 'a b', 'a#b', '\u001b[31m', '\u202e', 'x'.repeat(255)]) {
      const type = JSON.stringify({ type_definitions: [{ type: name || ' ' }] });
      const relation = JSON.stringify({
        type_definitions: [{ type: 't', relations: { [name]: { computedUserset: { relation: name } } } }],
      });
      assert.throws(() => convert([type]), /file0:1:22: ".*" is not a name\./);
      if (name !== '') assert.throws(() => convert([relation]), /is not a name\./);
    }
  });

  it('refuses what is defined twice or not at all', () => {
    const failures: readonly (readonly [RegExp, ...string[]])[] = [
      [/file0:4:6: "user" is already defined at file0:3:6/, 'type user', 'type user'],
      [
        /file0:7:12: "a" of "doc" is already defined at file0:6:12/,
        'type user',
        'type doc',
        '  relations',
        '    define a: [user]',
        '    define a: [user]',
      ],
      [/file0:5:16: No type "person"/, 'type doc', '  relations', '    define a: [person]'],
      [/file0:6:16: "user" does not define "b"/, 'type user', 'type doc', '  relations', '    define a: [user#b]'],
      [
        /file0:6:16: No condition "c" is defined/,
        'type user',
        'type doc',
        '  relations',
        '    define a: [user with c]',
      ],
      [
        /file0:4:11: The condition "c" is already defined at file0:3:11/,
        'condition c(a: int) { a > 0 }',
        'condition c(a: int) { a > 1 }',
      ],
      [/file0:5:15: "doc" does not define "b"/, 'type doc', '  relations', '    define a: b'],
      [/file0:5:15: "doc" does not define "c"/, 'type doc', '  relations', '    define a: b from c'],
    ];
    for (const [message, ...lines] of failures) assert.throws(() => convert([model(...lines)]), message);
  });
});
