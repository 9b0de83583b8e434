// Reads a file of model tests: grantd's own form in YAML or JSON, a store of OpenFGA, or a validation file of SpiceDB.
// Invariant: files that it names are read only by a relative path, and only with an ending that says what they are.

import { dirname, isAbsolute, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { CALL_CONTEXT_BYTES_MAX, type CallContext, parseCallContext } from '../../../../src/core/call-context.ts';
import { GrantdError, isErrorCode } from '../../../../src/core/errors.ts';
import { ExportFrame } from '../../../../src/core/export-frame.ts';
import { canonicalContext } from '../../../../src/core/grant-terms.ts';
import { isJsonObject, type JsonObject } from '../../../../src/core/json-members.ts';
import { RULES_BODY_BYTES_MAX } from '../../../../src/core/limits.ts';
import { parseJson } from '../../../../src/core/text/json.ts';
import { utf8Text } from '../../../../src/core/text/utf8.ts';
import { parseIdentifier } from '../../../../src/core/tuples.ts';
import { parseQuestion, parseRelationName } from '../../../../src/rules/questions.ts';
import { NO_RULES, type RuleSet } from '../../../../src/rules/rule-set.ts';
import { parseRulesText } from '../../../../src/rules/rules-text.ts';
import type { CliContext } from '../cli-context.ts';
import { loadConverter } from '../converter.ts';
import { CliFailure } from '../failures.ts';
import { encodeLine, readLines } from '../import/import-lines.ts';
import { formatOf, openSource, readWhole } from '../import/import-source.ts';
import { rulesIn } from '../tenant-rules.ts';
import { Cursor, parseYaml, plainOf, YAML_BYTES_MAX, type YamlMap } from '../yaml-file.ts';
import {
  type ExpectedAnswer,
  grantFields,
  type ModelFile,
  type ModelTest,
  parseGrant,
  type Question,
  type TestGrant,
  within,
} from './model-tests.ts';

/** Tests per file. One runs in a millisecond or so. */
const TESTS_MAX = 10_000;
const QUESTIONS_MAX = 100_000;
const GRANTS_MAX = 1_000_000;

const ROOT = ['rules', 'rules_file', 'grants', 'grants_file', 'tests'];
const TEST = ['name', 'context', 'grants', 'checks', 'objects', 'subjects'];
const CONTEXT = ['context', 'context_grants'];
const CHECK = ['subject', 'relation', 'relations', 'object', ...CONTEXT, 'expected'];
const OBJECTS = ['subject', 'relation', 'namespace', ...CONTEXT, 'expected'];
const SUBJECTS = ['object', 'relation', 'namespace', ...CONTEXT, 'expected', 'excluded'];

async function readBytes(context: CliContext, file: string, bytesMax: number): Promise<Buffer> {
  const { source } = await openSource(context, file);
  const bytes = await readWhole(source, bytesMax);
  if (bytes === undefined) throw new CliFailure(`${file} is longer than ${bytesMax / 1024} KiB.`);
  return bytes;
}

// ---- grants ----

const grantsIn = (cursor: Cursor | undefined, nowMs: number): readonly TestGrant[] =>
  (cursor?.list(GRANTS_MAX) ?? []).map((each) => ({
    place: each.location,
    grant: within(each, () => parseGrant(plainOf(each.node), nowMs)),
  }));

async function readGrants(context: CliContext, file: string): Promise<readonly TestGrant[]> {
  const format = formatOf(file, undefined);
  const { source } = await openSource(context, file);
  const grants: TestGrant[] = [];
  const frame = new ExportFrame();
  for await (const lines of readLines(source)) {
    for (const line of lines) {
      if (format === 'ndjson' && frame.take(line.bytes, line.number)) continue;
      const encoded = encodeLine(line, format);
      if (encoded === undefined) continue;
      const place = `${file}:${line.number}`;
      if ('refusal' in encoded) throw new CliFailure(`${place}: ${encoded.refusal.detail}`);
      try {
        grants.push({ place, grant: parseGrant(parseJson(encoded.json, 'The line'), context.nowMs()) });
      } catch (error) {
        throw new CliFailure(`${place}: ${GrantdError.from(error).message}`);
      }
      if (grants.length > GRANTS_MAX) throw new CliFailure(`${place}: There are more than ${GRANTS_MAX} grants.`);
    }
  }
  const fault = frame.fault();
  if (fault !== undefined) throw new CliFailure(`${file} is not a complete export. ${fault}`);
  return grants;
}

// ---- questions ----

/** `outer`: the context of the test, which that of the question completes. */
function contextIn(fields: JsonObject, outer: JsonObject | undefined): CallContext {
  const { context, context_grants: grants } = fields;
  return parseCallContext({
    context: outer === undefined ? context : { ...outer, ...(isJsonObject(context) ? context : {}) },
    context_grants: Array.isArray(grants) ? grants.map(grantFields) : grants,
  });
}

function expectedIn(value: unknown): ExpectedAnswer {
  if (typeof value === 'boolean' || (typeof value === 'string' && isErrorCode(value))) return value;
  throw new GrantdError(
    'invalid-request',
    '"expected" must be true, false or the type of an error, such as context-incomplete.',
  );
}

const optionalName = (value: unknown): string | undefined => {
  if (value === undefined || typeof value === 'string') return value;
  throw new GrantdError('invalid-request', '"namespace" must be a text.');
};

function identifiersIn(value: unknown, name: string): readonly string[] {
  if (Array.isArray(value)) return value.map((each) => parseIdentifier('subject', each));
  throw new GrantdError('invalid-request', `"${name}" must be a list.`);
}

type Reader = (
  fields: JsonObject,
  at: { readonly place: string; readonly context: CallContext },
) => readonly Question[];

const readCheck: Reader = (fields, at) => {
  const { subject, relation, relations, object, expected } = fields;
  if (relations === undefined) {
    return [
      { kind: 'check', ...at, question: parseQuestion(subject, relation, object), expected: expectedIn(expected) },
    ];
  }
  if (!isJsonObject(relations) || relation !== undefined || expected !== undefined) {
    throw new GrantdError(
      'invalid-request',
      '"relations" must be an object of expected answers by relation, in place of "relation" and "expected".',
    );
  }
  return Object.entries(relations).map(([name, value]) => {
    return { kind: 'check', ...at, question: parseQuestion(subject, name, object), expected: expectedIn(value) };
  });
};

const readObjects: Reader = (fields, at) => [
  {
    kind: 'objects',
    ...at,
    subject: parseIdentifier('subject', fields.subject),
    relation: parseRelationName(fields.relation),
    namespace: optionalName(fields.namespace),
    expected: identifiersIn(fields.expected, 'expected'),
  },
];

const readSubjects: Reader = (fields, at) => [
  {
    kind: 'subjects',
    ...at,
    object: parseIdentifier('object', fields.object),
    relation: parseRelationName(fields.relation),
    namespace: optionalName(fields.namespace),
    expected: identifiersIn(fields.expected, 'expected'),
    excluded: fields.excluded === undefined ? undefined : identifiersIn(fields.excluded, 'excluded'),
  },
];

const READERS: readonly (readonly [list: string, members: readonly string[], read: Reader])[] = [
  ['checks', CHECK, readCheck],
  ['objects', OBJECTS, readObjects],
  ['subjects', SUBJECTS, readSubjects],
];

function questionsIn(cursor: Cursor, map: YamlMap): readonly Question[] {
  const context = cursor.field(map, 'context');
  const outer = context === undefined ? undefined : plainOf(context.node);
  if (context !== undefined && !isJsonObject(outer)) throw context.failure('must be a map.');
  if (context !== undefined) within(context, () => canonicalContext(outer, 'context', CALL_CONTEXT_BYTES_MAX));
  return READERS.flatMap(([list, members, read]) =>
    (cursor.field(map, list)?.list(QUESTIONS_MAX) ?? []).flatMap((each) => {
      const { fields } = each.map(members);
      const plain = Object.fromEntries([...fields].map(([name, node]) => [name, plainOf(node)]));
      return within(each, () =>
        read(plain, { place: each.location, context: contextIn(plain, isJsonObject(outer) ? outer : undefined) }),
      );
    }),
  );
}

function testIn(cursor: Cursor, nowMs: number): ModelTest {
  const map = cursor.map(TEST);
  const questions = questionsIn(cursor, map);
  if (questions.length === 0) throw cursor.failure('asks nothing: it needs "checks", "objects" or "subjects".');
  return {
    name: cursor.demand(map, 'name').name(),
    place: cursor.location,
    grants: grantsIn(cursor.field(map, 'grants'), nowMs),
    questions,
  };
}

// ---- the file ----

function follow(by: string, cursor: Cursor, endings: RegExp): string {
  const { text } = cursor.text();
  if (isAbsolute(text) || text.includes('\0') || !endings.test(text)) {
    throw cursor.failure(`is not followed: it must be a relative path, and end as ${endings.source} says.`);
  }
  return join(dirname(by), text);
}

function textIn(file: string, bytes: Uint8Array): string {
  let text: string;
  try {
    text = utf8Text(bytes);
  } catch (cause) {
    throw new CliFailure(`${file} is not valid UTF-8.`, undefined, { cause });
  }
  if (text.startsWith('\u{feff}')) throw new CliFailure(`${file} begins with a byte order mark: remove it.`);
  return text;
}

async function readRulesFile(context: CliContext, file: string): Promise<Pick<ModelFile, 'ruleSet' | 'notes'>> {
  if (!/\.json$/i.test(file)) {
    const { readPeerRules } = await loadConverter(() => import('@grantd/convert/tests'));
    return readPeerRules(file);
  }
  const parsed = await parseRulesText(textIn(file, await readBytes(context, file, RULES_BODY_BYTES_MAX)), () =>
    setImmediate(),
  );
  if (parsed.kind === 'wrong') {
    throw new CliFailure(
      parsed.problems.map(({ message, place }) => `${file}:${place?.line ?? 1}: ${message}`).join('\n'),
    );
  }
  return { ruleSet: parsed.ruleSet, notes: [] };
}

async function readRules(
  context: CliContext,
  file: string,
  inline: Cursor | undefined,
  named: Cursor | undefined,
): Promise<{ readonly ruleSet: RuleSet; readonly notes: readonly string[] }> {
  if (named === undefined) return { ruleSet: inline === undefined ? NO_RULES : rulesIn(inline), notes: [] };
  if (inline !== undefined) throw named.failure('must not stand beside "rules".');
  return readRulesFile(context, follow(file, named, /\.(json|fga|mod|zed)$/i));
}

async function readOwn(context: CliContext, file: string, root: Cursor): Promise<ModelFile> {
  const map = root.map(ROOT);
  const [inline, rulesFile] = [root.field(map, 'rules'), root.field(map, 'rules_file')];
  const grantsFile = root.field(map, 'grants_file');
  const named = grantsFile && (await readGrants(context, follow(file, grantsFile, /\.(tsv|csv|ndjson|jsonl)$/i)));
  return {
    ...(await readRules(context, file, inline, rulesFile)),
    grants: [...grantsIn(root.field(map, 'grants'), context.nowMs()), ...(named ?? [])],
    tests: root
      .demand(map, 'tests')
      .list(TESTS_MAX)
      .map((each) => testIn(each, context.nowMs())),
  };
}

/** Otherwise a file whose tests were lost would pass. */
function demandQuestions(name: string, file: ModelFile): ModelFile {
  const idle = file.tests.find(({ questions }) => questions.length === 0);
  if (idle !== undefined) throw new CliFailure(`${idle.place}: the test ${JSON.stringify(idle.name)} asks nothing.`);
  if (file.tests.length === 0) throw new CliFailure(`${name} asks nothing: it has no tests.`);
  return file;
}

/** Throws a CliFailure that names file and line. */
export async function readModelTests(context: CliContext, file: string): Promise<ModelFile> {
  const bytes = await readBytes(context, file, YAML_BYTES_MAX);
  const name = file === '-' ? 'standard input' : file;
  const node = parseYaml(name, bytes);
  if (node.kind === 'map' && !ROOT.some((member) => member !== 'tests' && node.fields.has(member))) {
    const { readPeerTests } = await loadConverter(() => import('@grantd/convert/tests'));
    const peer = await readPeerTests({ file, root: node, nowMs: context.nowMs });
    if (peer !== undefined) return demandQuestions(name, peer);
  }
  return demandQuestions(name, await readOwn(context, file, new Cursor(name, node, '')));
}
