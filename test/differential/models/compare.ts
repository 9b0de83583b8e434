// Asks grantd and a peer the same questions about a model in the peer's own language. The definition of rules judges
// each answer: where grantd differs from it, grantd is wrong; where the peer does, the reason must be among those that
// are known of it.

import { isLimited } from '../question.ts';
import { agrees, isUndefined } from './agreement.ts';
import { modelCaseOf } from './cases.ts';
import type { Facts } from './converted-model.ts';
import { knownReason, knownRefusal, type Situation } from './known-reasons.ts';
import { type Dialect, type Tuple, tupleKey } from './model.ts';
import { openfgaDsl } from './openfga-model.ts';
import { relationshipText, spicedbText } from './spicedb-model.ts';
import type { GrantdModels, ModelAnswer, ModelSystem } from './systems.ts';

export interface ModelRun {
  readonly cases: number;
  readonly asked: number;
  /** Questions that the definition answers otherwise than with no or nothing. */
  readonly yes: number;
  /** Those that it does not answer, as they hang on a missing parameter or on a circle. */
  readonly undefined: number;
  /** How often the peer answered otherwise, or refused, by the reason. */
  readonly known: ReadonlyMap<string, number>;
  /** Texts, of the first difference that none of the reasons explains. */
  readonly difference: string | undefined;
}

const textOf = (items: readonly string[]): string => items.toSorted().join(' ') || 'nothing';

const answerText = (answer: ModelAnswer): string =>
  isLimited(answer)
    ? `refused: ${answer.limit}`
    : [
        textOf(answer.items),
        ...(answer.excluded === undefined ? [] : [`without ${textOf(answer.excluded)}`]),
        ...(answer.unknown === undefined ? [] : [`undefined of ${textOf(answer.unknown)}`]),
      ].join(', ');

const situationText = ({ converted: { model }, tuples, question }: Situation): string =>
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

interface Tally {
  asked: number;
  yes: number;
  undefined: number;
  readonly known: Map<string, number>;
}

const count = ({ known }: Tally, reason: string): void => void known.set(reason, (known.get(reason) ?? 0) + 1);

const hangsOnGroups = async ({ converted, tuples, question }: Situation, { items }: Facts): Promise<boolean> =>
  items.includes('undefined') && question.kind === 'subjects' && converted.isOpenOfGroups(tuples, question);

/** Undefined: they agree, or the reason is known. */
async function compareOne(
  { own, peer, tally }: { readonly own: GrantdModels; readonly peer: ModelSystem; readonly tally: Tally },
  situation: Situation,
): Promise<string | undefined> {
  const { converted, tuples, question } = situation;
  const [mine, theirs] = await Promise.all([own.answer(question), peer.answer(question)]);
  if (theirs === undefined) return undefined;
  const meant = await converted.meaningOf(tuples, question);
  tally.asked += 1;
  if (isUndefined(meant)) tally.undefined += 1;
  else if (!['false', undefined].includes(meant.items[0])) tally.yes += 1;
  const isOurs = isLimited(mine) || !(agrees(question, mine, meant) || (await hangsOnGroups(situation, mine)));
  if (!isOurs && !isLimited(theirs) && agrees(question, theirs, meant)) return undefined;
  const reason = isOurs ? undefined : await knownReason(situation, theirs, meant, (check) => peer.answer(check));
  if (reason === undefined) {
    return [
      `${isOurs ? 'grantd' : peer.name} differs from the definition:`,
      situationText(situation),
      `grantd: ${answerText(mine)}`,
      `${peer.name}: ${answerText(theirs)}`,
      `the definition: ${answerText(meant)}`,
    ].join('\n');
  }
  count(tally, reason);
  return undefined;
}

/** Case after case, until the peer has answered as many questions as wanted, or a difference is not explained. */
export async function compareModels(own: GrantdModels, peer: ModelSystem, options: ModelRunOptions): Promise<ModelRun> {
  const { seed, questions, dialect, only, onCase = () => {} } = options;
  const tally: Tally = { asked: 0, yes: 0, undefined: 0, known: new Map() };
  const first = only ?? 0;
  let number = first;
  for (; tally.asked < questions && (only === undefined || number === first); number += 1) {
    const differs = (difference: string): ModelRun => {
      const again = `npm run fuzz -- models --seed ${seed} --case ${number} --peers ${peer.name}`;
      return { cases: number - first + 1, ...tally, difference: `${difference}\nAgain: ${again}` };
    };
    const { model, steps } = modelCaseOf(`${seed}/${number}`, dialect);
    const refusal = await peer.begin(model);
    if (refusal !== undefined) {
      const reason = knownRefusal(dialect, refusal);
      if (reason === undefined) return differs(`${peer.name} refuses a model: ${refusal}`);
      count(tally, reason);
      continue;
    }
    await own.begin(model);
    const tuples = new Map<string, Tuple>();
    for (const { granted, revoked, questions: each } of steps) {
      for (const tuple of revoked) tuples.delete(tupleKey(tuple));
      for (const tuple of granted) tuples.set(tupleKey(tuple), tuple);
      await Promise.all([own.write(granted, revoked), peer.write(granted, revoked)]);
      for (const question of each) {
        const situation = { converted: own.converted, tuples: [...tuples.values()], question };
        const difference = await compareOne({ own, peer, tally }, situation);
        if (difference !== undefined) return differs(difference);
      }
    }
    onCase(number, tally.asked);
  }
  return { cases: number - first, ...tally, difference: undefined };
}

const share = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;

export function renderModelRun(peer: string, { cases, asked, yes, undefined: open, known }: ModelRun): string {
  const explained = [...known.values()].reduce((sum, count) => sum + count, 0);
  return [
    `${peer}: ${asked} questions in ${cases} cases: ${share(yes, asked)} yes, ${share(open, asked)} undefined, ${explained} answered otherwise for a known reason`,
    ...[...known].toSorted().map(([reason, count]) => `  ${peer} ${reason}: ${count}`),
  ].join('\n');
}
