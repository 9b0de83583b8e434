// Reads a file of model tests: grantd's own form in YAML or JSON, a store of OpenFGA, or a validation file of SpiceDB.
// Invariant: files that it names are read only by a relative path, and only with an ending that says what they are.

import { dirname, isAbsolute, join } from 'node:path';
import { CALL_CONTEXT_BYTES_MAX, type CallContext, parseCallContext } from '../../../../src/core/call-context.ts';
import { GrantdError, isErrorCode } from '../../../../src/core/errors.ts';
import { ExportFrame } from '../../../../src/core/export-frame.ts';
import { canonicalContext } from '../../../../src/core/grant-terms.ts';
import { isJsonObject, type JsonObject } from '../../../../src/core/json-members.ts';
import { parseJson } from '../../../../src/core/text/json.ts';
import { parseIdentifier } from '../../../../src/core/tuples.ts';
import { parseQuestion, parseRelationName } from '../../../../src/rules/questions.ts';
import { NO_RULES } from '../../../../src/rules/rule-set.ts';
import type { CliContext } from '../cli-context.ts';
import { loadConverter } from '../converter.ts';
import { CliFailure } from '../failures.ts';
import { encodeLine, readLines } from '../import/import-lines.ts';
import { formatOf, openSource, readWhole } from '../import/import-source.ts';
import { readRulesFile, rulesInYaml } from '../rules-file.ts';
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
/** Problems of one file that are told. */
const PROBLEMS_MAX = 20;

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

/** What is wrong with the parts of a file, each of which is read whatever is wrong with the others. */
class Problems {
  readonly #messages: string[] = [];
  #count = 0;

  /** The parts that are right. */
  rightOf<Value>(cursors: readonly Cursor[], read: (cursor: Cursor) => Value): readonly Value[] {
    return cursors.flatMap((cursor) => {
      const value = this.read(() => read(cursor));
      return value === undefined ? [] : [value];
    });
  }

  read<Value>(read: () => Value): Value | undefined {
    try {
      return read();
    } catch (error) {
      this.#add(error);
      return undefined;
    }
  }

  async wait<Value>(reading: Promise<Value>): Promise<Value | undefined> {
    try {
      return await reading;
    } catch (error) {
      this.#add(error);
      return undefined;
    }
  }

  #add(error: unknown): void {
    if (!(error instanceof CliFailure)) throw error;
    this.#count += 1;
    if (this.#count <= PROBLEMS_MAX) this.#messages.push(error.message);
  }

  assertNone(): void {
    const more = this.#count - this.#messages.length;
    if (this.#count > 0)
      throw new CliFailure([...this.#messages, ...(more > 0 ? [`And ${more} more.`] : [])].join('\n'));
  }
}

// ---- grants ----

const grantsIn = (cursor: Cursor | undefined, nowMs: number, problems: Problems): readonly TestGrant[] =>
  problems.rightOf(cursor?.list(GRANTS_MAX) ?? [], (each) => ({
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

function questionsIn(cursor: Cursor, map: YamlMap, problems: Problems): readonly Question[] {
  const context = cursor.field(map, 'context');
  const outer = context === undefined ? undefined : plainOf(context.node);
  if (context !== undefined && !isJsonObject(outer)) throw context.failure('must be a map.');
  if (context !== undefined) within(context, () => canonicalContext(outer, 'context', CALL_CONTEXT_BYTES_MAX));
  return READERS.flatMap(([list, members, read]) =>
    problems
      .rightOf(cursor.field(map, list)?.list(QUESTIONS_MAX) ?? [], (each) => {
        const { fields } = each.map(members);
        const plain = Object.fromEntries([...fields].map(([name, node]) => [name, plainOf(node)]));
        return within(each, () =>
          read(plain, { place: each.location, context: contextIn(plain, isJsonObject(outer) ? outer : undefined) }),
        );
      })
      .flat(),
  );
}

function testIn(cursor: Cursor, nowMs: number, problems: Problems): ModelTest {
  const map = cursor.map(TEST);
  const asked = READERS.flatMap(([list]) => cursor.field(map, list)?.list(QUESTIONS_MAX) ?? []);
  if (asked.length === 0) throw cursor.failure('asks nothing: it needs "checks", "objects" or "subjects".');
  return {
    name: cursor.demand(map, 'name').name(),
    place: cursor.location,
    grants: grantsIn(cursor.field(map, 'grants'), nowMs, problems),
    questions: questionsIn(cursor, map, problems),
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

async function readNamedRules(context: CliContext, file: string): Promise<Pick<ModelFile, 'ruleSet' | 'notes'>> {
  if (/\.(grantd|json|ya?ml)$/i.test(file)) return { ruleSet: (await readRulesFile(context, file)).ruleSet, notes: [] };
  const { readPeerRules } = await loadConverter(() => import('@grantd/convert/tests'));
  return readPeerRules(file);
}

async function readRules(
  context: CliContext,
  file: string,
  inline: Cursor | undefined,
  named: Cursor | undefined,
): Promise<Pick<ModelFile, 'ruleSet' | 'notes'>> {
  if (named === undefined) return { ruleSet: inline === undefined ? NO_RULES : await rulesInYaml(inline), notes: [] };
  if (inline !== undefined) throw named.failure('must not stand beside "rules".');
  return readNamedRules(context, follow(file, named, /\.(grantd|json|ya?ml|fga|mod|zed)$/i));
}

async function readOwn(context: CliContext, file: string, root: Cursor): Promise<ModelFile> {
  const map = root.map(ROOT);
  const problems = new Problems();
  const [inline, rulesFile] = [root.field(map, 'rules'), root.field(map, 'rules_file')];
  const { ruleSet, notes } = (await problems.wait(readRules(context, file, inline, rulesFile))) ?? {
    ruleSet: NO_RULES,
    notes: [],
  };
  const nowMs = context.nowMs();
  const own = problems.read(() => grantsIn(root.field(map, 'grants'), nowMs, problems)) ?? [];
  const grantsFile = root.field(map, 'grants_file');
  const named = grantsFile && (await problems.wait(readNamedGrants(context, file, grantsFile)));
  const tests = problems.read(() =>
    problems.rightOf(root.demand(map, 'tests').list(TESTS_MAX), (each) => testIn(each, nowMs, problems)),
  );
  problems.assertNone();
  return { ruleSet, notes, grants: [...own, ...(named ?? [])], tests: tests ?? [] };
}

async function readNamedGrants(context: CliContext, file: string, named: Cursor): Promise<readonly TestGrant[]> {
  return readGrants(context, follow(file, named, /\.(tsv|csv|ndjson|jsonl)$/i));
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
