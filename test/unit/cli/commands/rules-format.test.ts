// `grantd rules format`: one layout and one order, the same meaning.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { diffRules } from '../../../../src/rules/rules-diff.ts';
import { useDirectory } from '../../../kit/directory.ts';
import { runCli } from '../cli-run.ts';

const directory = useDirectory();
const file = join(directory, 'rules.json');

const RULES = {
  public: ['user', 'link'],
  groups: true,
  rules: [
    { namespace: 'document', name: 'can_write', any_of: ['owner', 'editor'] },
    {
      namespace: 'document',
      name: 'can_read',
      any_of: ['viewer', { all_of: ['guest', 'open'], but_not: ['blocked'] }],
    },
    { namespace: 'account', name: 'can_read', any_of: ['owner'] },
  ],
  types: [
    { namespace: 'document', relation: 'viewer', subjects: ['user', 'team#member', 'link with hours'] },
    { namespace: 'document', relation: 'blocked', subjects: ['user'] },
  ],
  conditions: [
    { name: 'hours', parameters: { zone: 'string', hour: 'int' }, expression: 'hour > 8' },
    { name: 'always', parameters: {}, expression: 'true' },
  ],
  relations: ['open', 'blocked'],
};

test('a file is brought into the order of its parts, and stays so', async () => {
  writeFileSync(file, JSON.stringify(RULES));
  const checked = await runCli(['rules', 'format', '--check', file], {});
  assert.deepEqual([checked.code, checked.stdout, checked.stderr], [1, '', `${file} is not formatted.\n`]);
  assert.equal(readFileSync(file, 'utf8'), JSON.stringify(RULES), '--check changes nothing');

  const formatted = await runCli(['rules', 'format', file], {});
  assert.deepEqual([formatted.code, formatted.stdout], [0, ''], formatted.stderr);
  const text = readFileSync(file, 'utf8');
  assert.equal(
    text,
    `{
  "relations": ["blocked","open"],
  "conditions": [
    {"name":"always","parameters":{},"expression":"true"},
    {"name":"hours","parameters":{"zone":"string","hour":"int"},"expression":"hour > 8"}
  ],
  "types": [
    {"namespace":"document","relation":"blocked","subjects":["user"]},
    {"namespace":"document","relation":"viewer","subjects":["link with hours","team#member","user"]}
  ],
  "rules": [
    {"namespace":"account","name":"can_read","any_of":["owner"]},
    {"namespace":"document","name":"can_read","any_of":["viewer",{"all_of":["guest","open"],"but_not":["blocked"]}]},
    {"namespace":"document","name":"can_write","any_of":["owner","editor"]}
  ],
  "groups": true,
  "public": ["link","user"]
}
`,
  );
  assert.deepEqual(diffRules(parseRuleSet(RULES), parseRuleSet(JSON.parse(text))), [], 'the meaning is the same');
  const again = await runCli(['rules', 'format', '--check', file], {});
  assert.deepEqual([again.code, again.stdout, again.stderr], [0, '', '']);
});

test('standard input is printed, and wrong rules are refused with their place', async () => {
  const piped = await runCli(['rules', 'format', '-'], { stdin: '{"rules": []}' });
  assert.deepEqual([piped.code, piped.stdout], [0, '{\n  "rules": [],\n  "groups": false,\n  "public": []\n}\n']);
  assert.equal((await runCli(['rules', 'format', '--check', '-'], { stdin: piped.stdout })).code, 0);
  const wrong = await runCli(['rules', 'format', '-'], { stdin: '{"rules": [{"namespace":"doc"}]}' });
  assert.deepEqual([wrong.code, wrong.stdout], [1, '']);
  assert.match(
    wrong.stderr,
    /^grantd: Standard input:1:12: "rules\[0\]\.name" .*\nStandard input:1:12: "rules\[0\]\.any_of"/,
  );
});

test('text keeps its order and its comments', async () => {
  const own = join(directory, 'rules.grantd');
  const text = 'namespace doc # ours\n can_read=viewer   or editor\n viewer:user,team#member\n';
  const formatted = 'namespace doc  # ours\n  can_read = viewer or editor\n  viewer: user, team#member\n';
  writeFileSync(own, text);
  assert.equal((await runCli(['rules', 'format', '--check', own], {})).code, 1);
  assert.equal((await runCli(['rules', 'format', own], {})).code, 0);
  assert.equal(readFileSync(own, 'utf8'), formatted);
  assert.equal((await runCli(['rules', 'format', '--check', own], {})).code, 0);
  assert.equal((await runCli(['rules', 'format', '-'], { stdin: text })).stdout, formatted);
});
