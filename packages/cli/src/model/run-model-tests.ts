// Asks a shard in this process the questions of model tests, and compares the answers. A test with grants of its own
// has a tenant of its own, so that no test sees the grants of another.

import { GrantdError } from '../../../../src/core/errors.ts';
import { isJsonObject } from '../../../../src/core/json-members.ts';
import { tupleText } from '../../../../src/core/tuples.ts';
import { type EmbeddedShard, EmbeddedTenant } from '../embedded-tenant.ts';
import { CliFailure, EXIT } from '../failures.ts';
import { grantLines, proofLines, reasonLines } from '../output/proof-tree.ts';
import type { Coverage } from './coverage.ts';
import type {
  CheckQuestion,
  ModelFile,
  ModelTest,
  ObjectsQuestion,
  Question,
  SubjectsQuestion,
  TestGrant,
} from './model-tests.ts';

/** A question that was not answered as expected. */
export interface Difference {
  readonly place: string;
  readonly question: string;
  readonly expected: unknown;
  readonly answer: unknown;
  /** What differs, and why the answer is as it is, for a reader. */
  readonly details: readonly string[];
}

export interface TestResult {
  readonly test: ModelTest;
  readonly differences: readonly Difference[];
}

export interface ModelRun {
  readonly shard: EmbeddedShard;
  readonly coverage: Coverage;
  readonly signal: AbortSignal;
  readonly onResult: (result: TestResult) => void;
}

/** Grants that the shard refuses; the rest is counted. */
const REFUSALS_SHOWN_MAX = 20;

type Mismatch = Omit<Difference, 'place'> | undefined;

async function writeGrants(tenant: EmbeddedTenant, grants: readonly TestGrant[]): Promise<void> {
  const results = await tenant.write(grants.map(({ grant }) => grant));
  const refusals = results.flatMap((result, index) =>
    result.kind === 'refused' ? [`${grants[index]?.place}: ${result.message}`] : [],
  );
  const more = refusals.length - REFUSALS_SHOWN_MAX;
  if (more > 0) refusals.splice(REFUSALS_SHOWN_MAX, more, `And ${more} more.`);
  if (refusals.length > 0) throw new CliFailure(refusals.join('\n'));
}

async function answerOf<Answer>(ask: () => Promise<Answer>): Promise<Answer | GrantdError> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof GrantdError) return error;
    throw error;
  }
}

const refused = (error: GrantdError) => ({ answer: error.code, details: [error.message] });

/** Lines `- missing` and `+ not expected`; empty if both lists have the same elements. */
function compare(expected: readonly string[], found: readonly string[]): string[] {
  const [wanted, got] = [new Set(expected), new Set(found)];
  return [
    ...[...wanted].filter((each) => !got.has(each)).map((each) => `- ${each}`),
    ...[...got].filter((each) => !wanted.has(each)).map((each) => `+ ${each}`),
  ];
}

class TestRunner {
  readonly #tenant: EmbeddedTenant;
  readonly #coverage: Coverage;
  /** By subject; by '' those of groups and of everyone. */
  readonly #conditions = new Map<string, Set<string>>();

  constructor(tenant: EmbeddedTenant, grants: readonly TestGrant[], coverage: Coverage) {
    this.#tenant = tenant;
    this.#coverage = coverage;
    for (const { grant } of grants) {
      if (typeof grant.condition !== 'string') continue;
      const subject = /[#*]/.test(grant.subject) ? '' : grant.subject;
      this.#conditions.set(subject, (this.#conditions.get(subject) ?? new Set()).add(grant.condition));
    }
  }

  async run(test: ModelTest, signal: AbortSignal): Promise<TestResult> {
    const differences: Difference[] = [];
    for (const question of test.questions) {
      if (signal.aborted) throw new CliFailure('Interrupted.', EXIT.interrupted);
      const found = await this.#ask(question);
      if (found !== undefined) differences.push({ place: question.place, ...found });
    }
    return { test, differences };
  }

  #ask(question: Question): Promise<Mismatch> {
    switch (question.kind) {
      case 'check':
        return this.#check(question);
      case 'objects':
        return this.#objects(question);
      case 'subjects':
        return this.#subjects(question);
    }
  }

  async #check({ question, context, expected }: CheckQuestion): Promise<Mismatch> {
    const { subject, relation, object } = question;
    const answer = await answerOf(() => this.#tenant.check(question, context));
    const text = tupleText(question);
    if (answer instanceof GrantdError) {
      return answer.code === expected ? undefined : { question: text, expected, ...refused(answer) };
    }
    const { authorized, because, proof, reason } = answer;
    this.#coverage.decided(object, relation, authorized);
    const sent = context.contextGrants?.flatMap((grant) => grant.condition ?? []) ?? [];
    const stored = [subject, ''].flatMap((each) => [...(this.#conditions.get(each) ?? [])]);
    this.#coverage.conditioned([...sent, ...stored], context.context);
    if (isJsonObject(proof)) this.#coverage.proved(proof);
    if (authorized === expected) return undefined;
    const details = isJsonObject(proof) ? proofLines(proof) : grantLines(because);
    return { question: text, expected, answer: authorized, details: authorized ? details : reasonLines(reason) };
  }

  async #objects({ subject, relation, namespace, context, expected }: ObjectsQuestion): Promise<Mismatch> {
    const question = `objects on which ${subject} holds ${relation}`;
    const answer = await answerOf(() => this.#tenant.listObjects({ subject, relation, namespace, ...context }));
    if (answer instanceof GrantdError) return { question, expected, ...refused(answer) };
    for (const object of answer) this.#coverage.decided(object, relation, true);
    const details = compare(expected, answer);
    return details.length === 0 ? undefined : { question, expected, answer, details };
  }

  async #subjects({
    object,
    relation,
    namespace,
    group,
    moreGroups,
    context,
    expected,
    excluded,
  }: SubjectsQuestion): Promise<Mismatch> {
    const question = `subjects that hold ${relation} on ${object}`;
    const includeSelf = group !== undefined && group !== '';
    const query = { object, relation, namespace, includeSelf, ...context };
    const answer = await answerOf(() => this.#tenant.listSubjects(query));
    if (answer instanceof GrantdError) return { question, expected, ...refused(answer) };
    const subjects = answer.subjects.filter((each) =>
      moreGroups === true
        ? groupOf(each) === '' || expected.includes(each)
        : group === undefined || groupOf(each) === group,
    );
    if (subjects.length > 0) this.#coverage.decided(object, relation, true);
    const listed = compare(expected, subjects);
    const out = excluded === undefined ? [] : compare(excluded, answer.excluded);
    if (listed.length + out.length === 0) return undefined;
    const details = [...listed, ...(out.length === 0 ? [] : ['excluded', ...out.map((line) => `  ${line}`)])];
    return {
      question,
      expected: excluded === undefined ? expected : { subjects: expected, excluded },
      answer: excluded === undefined ? subjects : { subjects, excluded: answer.excluded },
      details,
    };
  }
}

/** The name of a group `ns:id#name`; '' for any other subject. */
const groupOf = (subject: string): string => (subject.includes('#') ? subject.slice(subject.lastIndexOf('#') + 1) : '');

/** Throws a CliFailure if the shard refuses a grant, or at an interruption. */
export async function runModelTests(file: ModelFile, run: ModelRun): Promise<void> {
  const { shard, coverage, signal, onResult } = run;
  const openTenant = async (grants: readonly TestGrant[]): Promise<EmbeddedTenant> => {
    const tenant = await EmbeddedTenant.open(shard, file.ruleSet);
    await writeGrants(tenant, grants);
    return tenant;
  };
  const runnerFor = async (grants: readonly TestGrant[]): Promise<TestRunner> =>
    new TestRunner(await openTenant(grants), grants, coverage);
  const common = await runnerFor(file.grants);
  for (const test of file.tests) {
    const runner = test.grants.length === 0 ? common : await runnerFor([...file.grants, ...test.grants]);
    onResult(await runner.run(test, signal));
  }
}
