// Asks grantd and a peer the same questions about a model in the peer's own language. The definition of rules judges
// each answer: where grantd differs from it, grantd is wrong; where the peer does, the reason must be among those that
// are known of it.

import { isLimited } from '../question.ts';
import { modelCaseOf } from './cases.ts';
import type { Facts } from './converted-model.ts';
import { type Dialect, type Model, type ModelQuestion, type Tuple, tupleKey } from './model.ts';
import { openfgaDsl } from './openfga-model.ts';
import { relationshipText, spicedbText } from './spicedb-model.ts';
import type { GrantdModels, ModelAnswer, ModelSystem } from './systems.ts';

const CASES_MAX = 100_000;

export interface ModelRun {
  readonly cases: number;
  readonly asked: number;
  /** Answers other than no or nothing. */
  readonly positive: number;
  /** How often the peer answered otherwise, or refused, by the reason. */
  readonly known: ReadonlyMap<string, number>;
  /** Texts, of the first difference that none of the reasons explains. */
  readonly difference: string | undefined;
}

const sorted = (items: Iterable<string>): string => [...new Set(items)].toSorted().join(' ') || 'nothing';

/** Whom a list of subjects names, one by one, among those that anyone names. */
function standsFor({ items, excluded = [] }: Facts, everyone: string, all: readonly string[]): readonly string[] {
  if (!items.includes(everyone)) return items;
  return [...items, ...all.filter((each) => !each.endsWith(':*') && !excluded.includes(each))];
}

/** Whether two answers say the same. */
function agree(question: ModelQuestion, one: Facts, other: Facts): boolean {
  const isUnknown = ({ items }: Facts): boolean => items.includes('undefined');
  if (isUnknown(one) || isUnknown(other)) return isUnknown(one) && isUnknown(other);
  if (question.kind !== 'subjects') return sorted(one.items) === sorted(other.items);
  const everyone = `${question.type}:*`;
  const all = [one, other].flatMap(({ items, excluded = [] }) => [...items, ...excluded]);
  if (one.items.includes(everyone) !== other.items.includes(everyone)) return false;
  // Who cannot say who is excluded may only name those that the other stands for.
  if (one.items.includes(everyone) && (one.excluded === undefined || other.excluded === undefined)) {
    const [vague, exact] = one.excluded === undefined ? [one, other] : [other, one];
    return vague.items.every((each) => standsFor(exact, everyone, all).includes(each));
  }
  return sorted(standsFor(one, everyone, all)) === sorted(standsFor(other, everyone, all));
}

/** Why the peer answers otherwise than the definition, where that is known of it. */
function knownReason(peer: string, { kind }: ModelQuestion, theirs: ModelAnswer, meant: Facts): string | undefined {
  if (isLimited(theirs)) return `refuses: ${theirs.limit}`;
  if (peer === 'openfga' && meant.items.includes('undefined')) {
    return kind === 'check'
      ? 'says false in a circle through "but not", or does not evaluate a condition that lacks a parameter'
      : 'lists what it found in a circle through "but not"';
  }
  return undefined;
}

const answerText = (answer: ModelAnswer): string =>
  isLimited(answer)
    ? `refused: ${answer.limit}`
    : `${sorted(answer.items)}${answer.excluded === undefined ? '' : `, without ${sorted(answer.excluded)}`}`;

interface Situation {
  readonly model: Model;
  readonly tuples: readonly Tuple[];
  readonly question: ModelQuestion;
}

const situationText = ({ model, tuples, question }: Situation): string =>
  [
    model.dialect === 'openfga' ? openfgaDsl(model) : spicedbText(model),
    ...tuples.map(relationshipText),
    JSON.stringify(question),
  ].join('\n');

export interface ModelRunOptions {
  readonly seed: number;
  readonly questions: number;
  readonly dialect: Dialect;
  /** Only this case of the run. */
  readonly only?: number | undefined;
  readonly onCase?: (number: number, asked: number) => void;
}

/** Case after case, until the peer has answered as many questions as wanted, or a difference is not explained. */
export async function compareModels(own: GrantdModels, peer: ModelSystem, options: ModelRunOptions): Promise<ModelRun> {
  const { seed, questions, dialect, only, onCase = () => {} } = options;
  const known = new Map<string, number>();
  const note = (reason: string): void => void known.set(reason, (known.get(reason) ?? 0) + 1);
  let [cases, asked, positive] = [0, 0, 0];
  const result = (difference?: string): ModelRun => ({ cases, asked, positive, known, difference });
  for (let number = only ?? 0; asked < questions && number < CASES_MAX; number += 1) {
    const { model, steps } = modelCaseOf(`${seed}/${number}`, dialect);
    cases += 1;
    const refusal = await peer.begin(model);
    if (refusal !== undefined) note('refuses the model');
    await own.begin(model);
    const tuples = new Map<string, Tuple>();
    for (const { granted, revoked, questions: each } of refusal === undefined ? steps : []) {
      for (const tuple of revoked) tuples.delete(tupleKey(tuple));
      for (const tuple of granted) tuples.set(tupleKey(tuple), tuple);
      await Promise.all([own.write(granted, revoked), peer.write(granted, revoked)]);
      for (const question of each) {
        const [mine, theirs] = await Promise.all([own.answer(question), peer.answer(question)]);
        if (theirs === undefined) continue;
        asked += 1;
        const meant = await own.converted.meaningOf([...tuples.values()], question);
        if (!['false', undefined].includes(meant.items[0])) positive += 1;
        const isOurs = isLimited(mine) || !agree(question, mine, meant);
        if (!isOurs && !isLimited(theirs) && agree(question, meant, theirs)) continue;
        const reason = isOurs ? undefined : knownReason(peer.name, question, theirs, meant);
        if (reason !== undefined) {
          note(reason);
          continue;
        }
        return result(
          [
            `${isOurs ? 'grantd' : peer.name} differs from the definition; seed ${seed}, case ${number}:`,
            situationText({ model, tuples: [...tuples.values()], question }),
            `grantd: ${answerText(mine)}`,
            `${peer.name}: ${answerText(theirs)}`,
            `the definition: ${answerText(meant)}`,
            `Again: npm run fuzz -- models --seed ${seed} --case ${number} --peers ${peer.name}`,
          ].join('\n'),
        );
      }
    }
    onCase(number, asked);
    if (only !== undefined) break;
  }
  return result();
}

export function renderModelRun(peer: string, { cases, asked, positive, known }: ModelRun): string {
  const reasons = [...known].toSorted().map(([reason, count]) => `  ${peer} ${reason}: ${count}`);
  return [`${peer}: ${asked} questions in ${cases} cases, ${positive} not answered with no`, ...reasons].join('\n');
}
