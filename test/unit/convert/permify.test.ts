// Schemas, relationships and attributes of Permify.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseYaml } from '../../../packages/cli/src/yaml-file.ts';
import { type Conversion, convertModel } from '../../../packages/convert/src/model/conversion.ts';
import { parseModel } from '../../../packages/convert/src/model/model-reader.ts';
import { entriesOfAttributes, entriesOfRelationships } from '../../../packages/convert/src/tuples/permify-data.ts';
import { translateEntries } from '../../../packages/convert/src/tuples/translation.ts';
import { mapOf, namesOfModel } from '../../../packages/convert/src/tuples/tuple-names.ts';
import { compileConditions } from '../../../src/rules/conditions/compiled-condition.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { textOfElement, textOfSubjectType } from '../../../src/rules/rule-set.ts';

const SCHEMA = `entity user {}

entity organization {
  relation admin @user
  relation member @user @organization#member
}

entity account {
  relation org @organization // the owner
  relation owner @user
  attribute public boolean
  attribute balance integer
  attribute limit double
  attribute regions string[]

  permission view = public or owner
  permission hidden = owner not public
  action withdraw = check(balance, limit) and (owner or org.admin) or org.member
  action lend = check(balance, balance) and owner
  action travel = owner and in_region(regions)
}

rule check(balance integer, limit double) {
  balance >= context.data.amount && "context.data" != ""
  && context . data.amount <= limit
}

rule in_region(regions string[]) { context.data.region in regions }
`;

const modelOf = (text: string) => parseModel([{ file: 'm', text, origin: 'permify' }]);
const convert = (text: string): Conversion => convertModel(modelOf(text), []);

describe('a schema of Permify', () => {
  it('becomes rules, with attributes and calls of rules as relations that are granted to everybody', () => {
    const { rules, findings } = convert(SCHEMA);
    assert.deepEqual(findings, []);
    const ruleSet = parseRuleSet(rules);
    compileConditions(ruleSet.conditions);
    assert.deepEqual(
      ruleSet.rules.map(({ name, anyOf }) => `${name} = ${anyOf.map(textOfElement).join(' | ')}`),
      [
        'view = public | owner',
        'hidden = (owner but not public)',
        'withdraw = (check and (owner or admin from org)) | member from org',
        'lend = (check_2 and owner)',
        'travel = (owner and in_region)',
      ],
    );
    assert.deepEqual(
      ruleSet.types
        .filter(({ namespace }) => namespace === 'account')
        .map(({ relation, subjects }) => `${relation}: ${subjects.map(textOfSubjectType).join(', ')}`),
      [
        'org: organization',
        'owner: user',
        'public: user:*',
        'check: user:* with check',
        'check_2: user:* with check',
        'in_region: user:* with in_region',
      ],
    );
    assert.deepEqual(ruleSet.conditions[0]?.parameters, { balance: 'int', limit: 'double', data: 'map<any>' });
    assert.match(
      ruleSet.conditions[0]?.expression ?? '',
      /^balance >= data\.amount && "context\.data" != ""\s+&& data\./,
    );
  });

  it('may have quotes in comments of a rule, and a permission, a relation or an attribute named like a rule', () => {
    const text = `entity user {}
entity doc {
  relation owner @user
  relation listed @user
  attribute level integer
  attribute open boolean
  permission is_high = is_high(level) and owner
  permission is_high_2 = is_high
  permission seen = listed(level) or open(level) or open
}
rule is_high(level integer) { // the caller's "level
  level > context.data.min // it's '''
  && r'\\' != "context.data" && context.data.max > level
}
rule listed(level integer) { level > 1 }
rule open(level integer) { level > 2 }
`;
    const { rules, findings } = convert(text);
    assert.deepEqual(findings, []);
    const ruleSet = parseRuleSet(rules);
    compileConditions(ruleSet.conditions);
    assert.deepEqual(
      ruleSet.rules.map(({ name, anyOf }) => `${name} = ${anyOf.map(textOfElement).join(' | ')}`),
      ['is_high = (is_high_3 and owner)', 'is_high_2 = is_high', 'seen = listed_2 | open_2 | open'],
    );
    assert.match(ruleSet.conditions[0]?.expression ?? '', /level > data\.min .*"context\.data" && data\.max/s);
    const { findings: found } = convert(text.replace('data.max >', 'data.max.getMilliseconds() >'));
    const differs = found.find((each) => each.text.includes('cel-go'));
    assert.deepEqual(differs?.place, { file: 'm', line: 13, column: 49 });
  });

  it('is refused at the place of what it cannot have', () => {
    for (const [text, message] of [
      ['entity a {', /^CliFailure: m:1:11: The file ends where "relation", "attribute"/],
      ['entity a { attribute b money }', /m:1:24: "money" is not a type/],
      ['entity a { permission b = c.d.e }', /m:1:30: A walk over two relations/],
      ['entity a { permission b = c(d) }', /m:1:27: No rule "c" is defined/],
      ['entity a { permission b = c(d) } rule c(e integer) { e > 1 }', /m:1:27: "a" has no attribute "d"/],
      ['entity a { permission b = d }', /m:1:27: "a" does not define "d"/],
      ['rule c(data integer) { data > 1 }', /m:1:8: The parameter "data" has a name that grantd needs/],
      [`entity a { permission b = ${'('.repeat(65)}c`, /More than 64 parentheses/],
    ] as const) {
      assert.throws(() => convert(text), message, text);
    }
  });
});

describe('data of Permify', () => {
  it('become grants: attributes with their values as the context of conditions', () => {
    const model = modelOf(SCHEMA);
    const { mapped, conditions } = convertModel(model, []);
    const yaml = `
relationships:
  - account:1#owner@user:ann
  - organization:a#member@organization:b#member
  - account:1#owner@robot:1
  - nonsense
attributes:
  - account:1$balance|integer:4000
  - account:1$public|boolean:true
  - account:2$public|boolean:false
  - account:2$regions|string[]:eu,us
  - account:3$balance|integer:many
`;
    const root = parseYaml('f', Buffer.from(yaml));
    assert.ok(root.kind === 'map');
    const itemsOf = (name: string) => {
      const list = root.fields.get(name);
      return list?.kind === 'list' ? list.items : assert.fail(name);
    };
    const entries = [
      ...entriesOfRelationships(itemsOf('relationships')),
      ...entriesOfAttributes(model, itemsOf('attributes')),
    ];
    const names = namesOfModel(model, mapOf(mapped), { hasExpirations: true, usableConditions: conditions });
    const translated = translateEntries(entries, names, { groups: 0, public: new Map() }, () => 0);
    const grants = translated.flatMap((entry) => ('json' in entry ? [JSON.parse(entry.json)] : []));
    const everyone = (relation: string, object: string, condition?: object) => ({
      subject: 'user:*',
      relation,
      object,
      ...(condition === undefined ? {} : { condition }),
    });
    assert.deepEqual(grants, [
      { subject: 'user:ann', relation: 'owner', object: 'account:1' },
      { subject: 'organization:b#member', relation: 'member', object: 'organization:a' },
      everyone('public', 'account:1'),
      everyone('check', 'account:1', { name: 'check', context: { balance: 4000, limit: 0 } }),
      everyone('check_2', 'account:1', { name: 'check', context: { balance: 4000, limit: 4000 } }),
      everyone('in_region', 'account:2', { name: 'in_region', context: { regions: ['eu', 'us'] } }),
    ]);
    assert.deepEqual(
      translated.flatMap(({ line, ...entry }) => ('refusal' in entry ? [line.number] : [])),
      [5, 6, 12],
    );
  });
});
