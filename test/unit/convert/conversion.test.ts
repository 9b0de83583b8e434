// Conversions of typical models: their rules, relation maps and findings.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Conversion, convertModel, type Finding } from '../../../packages/convert/src/model/conversion.ts';
import { parseModelFile } from '../../../packages/convert/src/model/model-reader.ts';
import { joinDeclarations } from '../../../packages/convert/src/model/source-model.ts';
import type { MapOption, Origin } from '../../../src/cli/converter.ts';
import { CliFailure } from '../../../src/cli/failures.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { ruleSetRecord } from '../../../src/rules/rule-set.ts';
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
  const declarations = texts.flatMap((text, index) => parseModelFile(`file${index}`, text, origin));
  return convertModel(joinDeclarations(declarations), options.map(mapOption));
}

/** `document.viewer = editor | viewer from parent`, and the switches. */
function rulesOf({ rules }: Conversion): string[] {
  const record = ruleSetRecord(parseRuleSet(rules));
  return [
    ...record.rules.map(({ namespace, name, any_of: anyOf }) => `${namespace}.${name} = ${anyOf.join(' | ')}`),
    ...(record.groups ? ['groups'] : []),
    ...record.public.map((namespace) => `public ${namespace}`),
  ];
}

const mapOf = ({ mapped }: Conversion): string[] =>
  mapped.map(({ type, name, relation }) => `${type}#${name} ${relation}`);
const lostLines = (findings: readonly Finding[]): number[] =>
  findings.filter(({ lost }) => lost !== undefined).map(({ place }) => place.line);
const model = (...lines: readonly string[]): string => `model\n  schema 1.1\n${lines.join('\n')}\n`;

describe('models of OpenFGA', () => {
  it('a drive fits as it is', () => {
    const conversion = convert([DRIVE_FGA]);
    assert.deepEqual(rulesOf(conversion), [
      'folder.viewer = owner | viewer from parent',
      'folder.can_create_file = owner',
      'doc.can_read = viewer | owner | viewer from parent',
      'doc.can_write = owner | owner from parent',
      'groups',
      'public user',
    ]);
    assert.deepEqual(conversion.findings, []);
    assert.deepEqual(mapOf(conversion).slice(0, 3), [
      'group#member member',
      'folder#parent parent',
      'folder#owner owner',
    ]);
  });

  it('a code host needs a choice for what has no synonym, and says for what', () => {
    assert.throws(
      () => convert([CODE_HOST_FGA]),
      (error) => {
        assert.ok(error instanceof CliFailure);
        assert.match(
          error.message,
          /file0:11:12: organization#repo_admin\n {2}file0:12:12: organization#repo_reader\n/,
        );
        // The example can be taken as it is.
        const [, example = ''] =
          /file0:19:12: repo#triager\n {2}For example: --map '([^']*)'/.exec(error.message) ?? [];
        assert.deepEqual(example.split(','), [
          'organization#repo_admin=guest',
          'organization#repo_reader=viewer',
          'repo#triager=guest',
        ]);
        assert.equal(convert([CODE_HOST_FGA], 'openfga', example.split(',')).findings.length, 0);
        return true;
      },
    );
    const conversion = convert([CODE_HOST_FGA], 'openfga', [
      'repo_admin=admin',
      'repo_reader=guest',
      'repo#triager=commenter',
    ]);
    assert.deepEqual(rulesOf(conversion), [
      'organization.member = owner',
      'repo.admin = admin from parent',
      'repo.manager = admin',
      'repo.editor = manager',
      'repo.commenter = editor',
      'repo.viewer = commenter | guest from parent',
      'groups',
    ]);
    assert.deepEqual(
      conversion.mapped
        .filter(({ type }) => type === 'repo')
        .map(({ name, relation, reason }) => [name, relation, reason]),
      [
        ['organization', 'parent', 'what arrows follow'],
        ['admin', 'admin', 'same name'],
        ['maintainer', 'manager', 'synonym'],
        ['writer', 'editor', 'synonym'],
        ['triager', 'commenter', '--map'],
        ['reader', 'viewer', 'synonym'],
      ],
    );
  });

  it('a chat in modules is joined, in any order of the files', () => {
    const options = ['legacy_admin=owner', 'channels_admin=admin'];
    const conversion = convert([CHAT_FGA, CHANNEL_FGA], 'openfga', options);
    assert.deepEqual(rulesOf(conversion).toSorted(), [
      'channel.can_manage = admin from parent',
      'channel.viewer = editor',
      'groups',
      'workspace.admin = owner',
      'workspace.member = admin',
    ]);
    assert.deepEqual(
      rulesOf(convert([CHANNEL_FGA, CHAT_FGA], 'openfga', options)).toSorted(),
      rulesOf(conversion).toSorted(),
    );
    assert.throws(
      () => convert([CHAT_FGA], 'openfga', options),
      /file0:10:13: "channel" is extended here but not defined/,
    );
  });

  it('entitlements lose what excludes, intersects or has conditions, and what hangs on it alone', () => {
    const conversion = convert([ENTITLEMENTS_FGA], 'openfga', ['blocked=guest', 'access=viewer']);
    assert.deepEqual(lostLines(conversion.findings), [10, 16, 17]);
    assert.deepEqual(rulesOf(conversion), ['feature.shown = viewer']);
    assert.deepEqual(mapOf(conversion), [
      'plan#subscriber parent',
      'feature#associated_plan parent',
      'feature#blocked guest',
      'feature#access viewer',
    ]);
    const texts = conversion.findings.map(({ place, text }) => `${place.line}: ${text}`).join('\n');
    assert.match(texts, /^7: "plan#subscriber_member" follows .* no longer: "organization#member" is left out\.$/m);
    assert.match(texts, /^7: No subject can hold "plan#subscriber_member"/m);
    assert.match(texts, /^18: "feature#shown" follows from "trusted" no longer: "feature#trusted" is left out\.$/m);
  });
});

describe('schemas of SpiceDB', () => {
  it('a drive fits as it is', () => {
    const conversion = convert([DRIVE_ZED], 'spicedb');
    assert.deepEqual(rulesOf(conversion), [
      'folder.view = viewer | owner | view from parent',
      'document.edit = owner | editor',
      'document.view = viewer | edit | view from parent',
      'groups',
      'public user',
    ]);
    assert.deepEqual(
      conversion.findings.map(({ place, text, lost }) => [place.line, text, lost]),
      [
        [19, '"document#writer" takes relationships that expire: import them with "expires_at".', undefined],
        [21, 'No type in "parent" defines "edit_all": "edit_all from parent" adds nothing.', undefined],
        [22, 'No subject can hold "document#edit_all": it gets no rule.', undefined],
      ],
    );
  });

  it('lose exclusion, intersection, .all(), self and caveats', () => {
    const conversion = convert([LIMITED_ZED], 'spicedb', ['visitor=viewer', 'banned=guest', 'document#team=parent']);
    assert.deepEqual(lostLines(conversion.findings), [9, 19, 21, 22, 23]);
    assert.deepEqual(rulesOf(conversion), ['document.list = owner']);
    assert.ok(!mapOf(conversion).some((line) => line.startsWith('document#visitor')));
  });
});

describe('a conversion', () => {
  it('leaves a name with a stored and an excluding part out altogether, with its grants', () => {
    const conversion = convert([
      model(
        'type user',
        'type doc',
        '  relations',
        '    define guest: [user]',
        '    define viewer: [user] but not guest',
        '    define can_read: viewer',
      ),
    ]);
    assert.deepEqual(lostLines(conversion.findings), [7]);
    assert.deepEqual([rulesOf(conversion), mapOf(conversion)], [[], ['doc#guest guest']]);
  });

  it('takes no synonym that is a name of the type already', () => {
    const text = model(
      'type user',
      'type doc',
      '  relations',
      '    define reader: [user]',
      '    define viewer: reader',
    );
    assert.throws(() => convert([text]), /doc#reader/);
    assert.deepEqual(rulesOf(convert([text], 'openfga', ['reader=guest'])), ['doc.viewer = guest']);
    assert.throws(
      () => convert([text], 'openfga', ['reader=viewer']),
      /"viewer" and "reader" of "doc" would both be "viewer"/,
    );
  });

  it('never gives the name of what is left out to another relation', () => {
    const text = model(
      'type user',
      'type team',
      '  relations',
      '    define ok: [user]',
      '    define member: [user] and ok',
      '    define assignee: [user]',
    );
    assert.throws(() => convert([text], 'openfga', ['ok=admin']), /team#assignee/);
    assert.throws(
      () => convert([text], 'openfga', ['ok=admin', 'member=owner', 'assignee=member']),
      /would both be "member"/,
    );
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
    // "reader" of a folder would be "viewer", but the "viewer" of a team is another name.
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
    const conversion = convert([text]);
    assert.deepEqual([lostLines(conversion.findings), rulesOf(conversion)], [[13], []]);
    const chosen = convert([text], 'openfga', ['folder#reader=guest']);
    assert.deepEqual([lostLines(chosen.findings), rulesOf(chosen)], [[], ['doc.can_read = guest from parent']]);
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
    assert.deepEqual(rulesOf(convert([text])), [
      'team.reader = member',
      'doc.can_read = viewer from parent | reader from parent',
    ]);
  });

  it('follows only what is granted, to single entities', () => {
    const zed = (subjects: string): string =>
      `definition user {}\ndefinition team {\n relation member: user\n}\ndefinition doc {\n relation parent: ${subjects}\n permission view = parent->member\n}\n`;
    assert.deepEqual(lostLines(convert([zed('team')], 'spicedb').findings), []);
    for (const subjects of ['team | team#member', 'team:*']) {
      const { findings } = convert([zed(subjects)], 'spicedb');
      assert.deepEqual(lostLines(findings), [7], subjects);
      assert.match(findings[0]?.text ?? '', /rules only follow single entities/);
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

  it('refuses names that grantd cannot have, and rules above the limits', () => {
    assert.throws(() => convert(['definition acme/user {}'], 'spicedb'), /file0:1:12: the type "acme\/user"/);
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
    assert.equal(rulesOf(convert([many(200)])).length, 200);
    assert.throws(() => convert([many(201)]), /one more rule than the 200/);
  });

  it('refuses a type with more granted relations than there are built-in ones', () => {
    const many = (count: number): string =>
      model(
        'type user',
        'type role',
        '  relations',
        ...Array.from({ length: count }, (_, index) => `    define can${index}: [user]`),
        '    define not: [user] and can0',
      );
    assert.throws(() => convert([many(9)]), /Choose a relation/);
    assert.throws(
      () => convert([many(10)]),
      /file0:4:6: "role" has 10 relations that can be granted, and grantd has 9:/,
    );
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
      [/file0:5:15: "doc" does not define "b"/, 'type doc', '  relations', '    define a: b'],
      [/file0:5:15: "doc" does not define "c"/, 'type doc', '  relations', '    define a: b from c'],
    ];
    for (const [message, ...lines] of failures) assert.throws(() => convert([model(...lines)]), message);
  });
});
