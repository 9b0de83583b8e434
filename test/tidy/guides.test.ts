// The guides against what they describe: the table of messages against the schema of the stream, the index of decisions
// against their pages, the recipes for contributors against the files that they name. Each check is shown to bite.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT, readText } from '../kit/source-tree.ts';

/** The bodies of a schema's messages, by name. */
function messagesOf(proto: string): ReadonlyMap<string, string> {
  const withoutComments = proto.replace(/\/\/.*$/gm, '');
  const messages = new Map<string, string>();
  for (const { groups } of withoutComments.matchAll(/^message (?<name>\w+) \{(?<body>\}|[\s\S]*?^\})$/gm)) {
    messages.set(groups?.name ?? '', groups?.body ?? '');
  }
  return messages;
}

/** What travels by itself: the two messages of the stream, their fields, and the alternatives of a call and a reply. */
function travellingMessages(proto: string): Set<string> {
  const messages = messagesOf(proto);
  const fieldsOf = (text: string): string[] =>
    [...text.matchAll(/^\s*(?:repeated )?(?<type>[A-Z]\w*) \w+ = \d+;/gm)]
      .map(({ groups }) => groups?.type ?? '')
      .filter((type) => messages.has(type));
  const oneOf = (name: string): string[] =>
    fieldsOf(/oneof \w+ \{([\s\S]*?)\}/.exec(messages.get(name) ?? '')?.[1] ?? '');
  const ends = ['FrontMessage', 'ShardMessage'];
  return new Set([
    ...ends,
    ...ends.flatMap((name) => fieldsOf(messages.get(name) ?? '')),
    ...oneOf('Call'),
    ...oneOf('Reply'),
  ]);
}

interface MessageRow {
  readonly message: string;
  readonly from: string;
  readonly to: string;
}

function messageRows(page: string): readonly MessageRow[] {
  const section = /^## The messages between fronts and shards$(?<rows>[\s\S]*?)^## /m.exec(page)?.groups?.rows ?? '';
  return [...section.matchAll(/^\| `(?<message>\w+)` +\| (?<from>[^|]+)\| (?<to>[^|]+)\| \S/gm)].map(({ groups }) => ({
    message: groups?.message ?? '',
    from: groups?.from?.trim() ?? '',
    to: groups?.to?.trim() ?? '',
  }));
}

/** One line for each difference between the table and the schema. */
function findMessageDifferences(page: string, proto: string): string[] {
  const rows = messageRows(page);
  const travelling = travellingMessages(proto);
  const fromShards = messagesOf(proto.slice(proto.indexOf('message ShardMessage')));
  const listed = rows.map(({ message }) => message);
  return [
    ...[...travelling].filter((name) => !listed.includes(name)).map((name) => `${name} is not in the table`),
    ...listed.filter((name) => !travelling.has(name)).map((name) => `${name} is no message that travels`),
    ...listed.filter((name, index) => listed.indexOf(name) !== index).map((name) => `${name} is listed twice`),
    ...rows
      .filter(({ message, from, to }) => (fromShards.has(message) ? from : to) !== 'shard')
      .map(({ message }) => `${message} goes the other way`),
  ];
}

describe('the table of messages in ARCHITECTURE.md', () => {
  const page = readText('ARCHITECTURE.md');
  const proto = readText('proto/grantd/v1/shard.proto');

  it('has every message that travels, and its direction', () => {
    assert.ok(travellingMessages(proto).size > 40);
    assert.deepEqual(findMessageDifferences(page, proto), []);
  });

  it('would not pass with a message more or fewer, or one that goes the other way', () => {
    const more = proto.replace(
      'ListMembers list_members = 38;',
      'ListMembers list_members = 38;\n    Confirmed x = 99;',
    );
    assert.deepEqual(findMessageDifferences(page, `${more}\nmessage Confirmed {}\n`), [
      'Confirmed is not in the table',
    ]);
    const fewer = proto.replace('Confirm confirm = 12;', '');
    assert.deepEqual(findMessageDifferences(page, fewer), ['Confirm is no message that travels']);
    const turned = page.replace(/(\| `Pong` +\| )shard/, '$1front');
    assert.deepEqual(findMessageDifferences(turned, proto), ['Pong goes the other way']);
  });
});

const ADR_SECTIONS = ['Context', 'Decision', 'Measured', 'Consequences', 'When to undo it'];

function findAdrProblems(index: string, pages: ReadonlyMap<string, string>): string[] {
  const problems = [...pages].flatMap(([file, text]) => {
    const sections = [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title ?? '');
    const [, number = '', title = ''] = /^# (\d+)\. (.+)$/m.exec(text) ?? [];
    return [
      ...(index.includes(`[${title}](${file})`) ? [] : [`${file} is not in the index under its title`]),
      ...(file.startsWith(`${number.padStart(4, '0')}-`) ? [] : [`${file} has another number in its title`]),
      ...(sections.join() === ADR_SECTIONS.join() ? [] : [`${file} has other sections`]),
      ...(/^Status: (accepted|superseded)\b/m.test(text) ? [] : [`${file} has no status`]),
    ];
  });
  const numbers = [...pages.keys()].map((file) => Number(file.slice(0, 4))).sort((left, right) => left - right);
  return numbers.every((number, at) => number === at + 1) ? problems : [...problems, 'the numbers have gaps'];
}

describe('the decisions in docs/adr', () => {
  const folder = 'docs/adr';
  const files = readdirSync(join(ROOT, folder)).filter((file) => /^\d/.test(file));
  const pages = new Map(files.map((file) => [file, readText(`${folder}/${file}`)]));
  const index = readText(`${folder}/README.md`);

  it('stand in the index, with their number, their status and the same sections', () => {
    assert.ok(pages.size >= 10);
    assert.deepEqual(findAdrProblems(index, pages), []);
  });

  it('would not pass with a page that is not in the index or lacks a section', () => {
    const [[file, text] = ['', '']] = pages;
    assert.equal(findAdrProblems(index.replace(file, 'x.md'), pages).length, 1);
    assert.equal(findAdrProblems(index, new Map([...pages, [file, text.replace('## Measured', '## Felt')]])).length, 1);
    assert.equal(findAdrProblems(index, new Map([...pages].slice(1))).length, 1);
  });
});

const RECIPES = [
  'bug in the evaluation of rules',
  'new endpoint',
  'new operator operation',
  'new CLI command',
  'new console page',
  'new metric',
  'new setting',
  'new migration',
  'new store adapter',
  'new simulation fault',
];
const FOLDERS = 'src|test|scripts|proto|docs|bench|charts|k8s|loadtest|bin';

/** What is wrong with the recipes: one is missing, names no file, or names a file that does not exist. */
function findRecipeProblems(page: string): string[] {
  const recipes = new Map(
    [...page.matchAll(/^### A (?<name>.+)$(?<text>[\s\S]*?)(?=^#)/gm)].map(({ groups }) => [
      groups?.name ?? '',
      groups?.text ?? '',
    ]),
  );
  const missing = RECIPES.filter((name) => !recipes.has(name)).map((name) => `there is no recipe for a ${name}`);
  const wrong = [...recipes].flatMap(([name, text]) => {
    const files = [...text.matchAll(new RegExp(`\`((?:${FOLDERS})/[\\w./-]*[\\w/])\``, 'g'))].map(
      ([, file]) => file ?? '',
    );
    if (files.length === 0) return [`${name} names no file`];
    return files
      .filter((file) => !existsSync(join(ROOT, file)))
      .map((file) => `${name} names ${file}, which is not there`);
  });
  return [...missing, ...wrong];
}

describe('the recipes in CONTRIBUTING.md', () => {
  const page = readText('CONTRIBUTING.md');

  it('are there for what contributors add or repair, and name files that exist', () => {
    assert.deepEqual(findRecipeProblems(page), []);
  });

  it('would not pass without one of them, or with a file that is not there', () => {
    assert.deepEqual(findRecipeProblems(page.replace('### A new metric', '### Metrics')), [
      'there is no recipe for a new metric',
    ]);
    assert.deepEqual(findRecipeProblems(page.replace('`src/telemetry/metrics.ts`', '`src/telemetry/meters.ts`')), [
      'new metric names src/telemetry/meters.ts, which is not there',
    ]);
  });
});
