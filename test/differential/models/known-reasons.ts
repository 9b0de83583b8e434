// Why a peer answers otherwise than the definition, where that is known of it. Each reason is decided by the definition
// and by what the question leads to, so that no other difference passes for one of them.

import type { Truth } from '../../kit/naive-rules.ts';
import { isLimited } from '../question.ts';
import { agrees, differing, isLess, isUndefined, liesBetween, liesWithin } from './agreement.ts';
import { type Chains, chainsFrom, textOfFact } from './chains.ts';
import type { ConvertedModel, Facts, Meaning } from './converted-model.ts';
import { conditionOf, type Dialect, type ModelQuestion, relationOf, type Tuple, typeOf } from './model.ts';
import { type ModelAnswer, type ModelSystem, REFUSALS } from './systems.ts';

/** How many facts may follow from one another, by default. */
const DEPTHS: Readonly<Record<Dialect, number>> = { openfga: 25, spicedb: 50 };

/** Whose values are tried, each with each. */
const CONDITIONS_MAX = 7;

export interface Situation {
  readonly converted: ConvertedModel;
  /** Those that are stored. */
  readonly tuples: readonly Tuple[];
  readonly question: ModelQuestion;
}

/** From all that is asked: of a list of objects, from each object. */
function chainsOf({ converted, tuples, question }: Situation): readonly Chains[] {
  const all = [...tuples, ...question.contextTuples];
  const objects =
    question.kind === 'objects'
      ? all.map(({ object }) => object).filter((each) => each.startsWith(`${question.type}:`))
      : [question.object];
  return [...new Set(objects)].map((object) => chainsFrom(converted.model, all, { name: question.relation, object }));
}

/** What the definition says for each of the values that the conditions without a parameter may have together. */
async function meaningsOf({ converted, tuples, question }: Situation): Promise<readonly Meaning[]> {
  const found = new Set<string>();
  const note = (condition: string): Truth => {
    found.add(condition);
    return 'undefined';
  };
  await converted.meaningOf(tuples, question, { lacking: note });
  const conditions = [...found].slice(0, CONDITIONS_MAX);
  const isTrue = (value: number, condition: string): boolean => ((value >> conditions.indexOf(condition)) & 1) === 1;
  const values = Array.from({ length: 2 ** conditions.length }, (_, index) => index);
  return Promise.all(
    values.map((value) => {
      const lacking = (condition: string): Truth =>
        conditions.includes(condition) ? isTrue(value, condition) : 'undefined';
      return converted.meaningOf(tuples, question, { lacking });
    }),
  );
}

/**
 * Whether SpiceDB 1.54.0 does not find the tuple in a check of its subject: it has a condition, and its relation may
 * also be granted to groups of the same type without one.
 */
function isLost({ subject, relation, object, condition }: Tuple, { converted, question }: Situation): boolean {
  if (condition === undefined || question.kind === 'subjects' || subject !== question.subject) return false;
  const { subjects = [] } = relationOf(converted.model, typeOf(object), relation) ?? {};
  const isPlain = !subject.includes('#');
  return isPlain && subjects.some((each) => each.of === 'group' && each.type === typeOf(subject) && !each.condition);
}

async function isForLostTuples(situation: Situation, theirs: Facts, meant: Meaning): Promise<boolean> {
  const { converted, tuples, question } = situation;
  const found = tuples.filter((tuple) => !isLost(tuple, situation));
  if (found.length === tuples.length) return false;
  return liesBetween(question, theirs, [meant, await converted.meaningOf(found, question)]);
}

async function reasonOfRefusal(situation: Situation, limit: string, meant: Meaning): Promise<string | undefined> {
  const { converted, tuples, question } = situation;
  const { dialect } = converted.model;
  const all = [...tuples, ...question.contextTuples];
  const chains = chainsOf(situation);
  const longest = Math.max(0, ...chains.map((each) => each.longest));
  if (limit === REFUSALS.parameters) {
    // A list of objects begins with the tuples of the subject, wherever they lead.
    const isRead = ({ relation: name, object }: Tuple): boolean =>
      question.kind === 'objects' || chains.some(({ facts }) => facts.has(textOfFact({ name, object })));
    const lacksParameter = ({ condition }: Tuple): boolean =>
      Object.keys(conditionOf(converted.model, condition?.name)?.parameters ?? {}).some(
        (name) => condition?.context[name] === undefined && question.context[name] === undefined,
      );
    if (!all.some((tuple) => lacksParameter(tuple) && isRead(tuple))) return undefined;
    return isUndefined(meant)
      ? 'refuses a call that lacks a parameter'
      : 'refuses a call for a parameter that does not matter';
  }
  if (longest === Number.POSITIVE_INFINITY) return `refuses tuples in a circle (${limit})`;
  return limit === REFUSALS.depth && longest >= DEPTHS[dialect] ? `refuses a chain of ${DEPTHS[dialect]}` : undefined;
}

/** Whether the peer's own checks say what the definition does of all on whom its list differs. */
async function listsOtherwise(
  { converted, tuples, question }: Situation,
  theirs: Facts,
  meant: Meaning,
  ask: ModelSystem['answer'],
): Promise<boolean> {
  if (question.kind === 'check') return false;
  for (const entity of differing(question, theirs, meant)) {
    const { relation, context, contextTuples } = question;
    const of =
      question.kind === 'objects'
        ? { subject: question.subject, object: entity }
        : { subject: entity, object: question.object };
    const check: ModelQuestion = { kind: 'check', relation, context, contextTuples, ...of };
    const answer = await ask(check);
    if (answer === undefined || isLimited(answer)) return false;
    if (!agrees(check, answer, await converted.meaningOf(tuples, check))) return false;
  }
  return true;
}

/** `ask`: the peer. */
export async function knownReason(
  situation: Situation,
  theirs: ModelAnswer,
  meant: Meaning,
  ask: ModelSystem['answer'],
): Promise<string | undefined> {
  if (isLimited(theirs)) return reasonOfRefusal(situation, theirs.limit, meant);
  const { converted, tuples, question } = situation;
  const isSpicedb = converted.model.dialect === 'spicedb';
  if (isSpicedb && (await isForLostTuples(situation, theirs, meant)))
    return 'does not find a tuple with a condition, as its relation takes groups of the type of its subject';
  if (isSpicedb && agrees(question, theirs, await converted.meaningOf(tuples, question, { unmet: true })))
    return 'demands the condition of each tuple that ".all" follows';
  if (!isSpicedb && chainsOf(situation).some(({ excludesCircle }) => excludesCircle) && isLess(question, theirs, meant))
    return 'denies where what a "but not" excludes leads into a circle';
  if (await listsOtherwise(situation, theirs, meant, ask))
    return `lists ${question.kind} otherwise than it checks them`;
  if (!isUndefined(meant)) return undefined;
  const meanings = await meaningsOf(situation);
  if (meanings.every((each) => agrees(question, theirs, each)))
    return 'answers what no value of a missing parameter would change';
  if (isSpicedb) return undefined;
  const where = meanings.some(isUndefined) ? 'in a circle through "but not"' : 'where the call lacks a parameter';
  if (question.kind === 'check') return theirs.items[0] === 'false' ? `says false ${where}` : undefined;
  return liesWithin(question, theirs, meant) ? `lists a part ${where}` : undefined;
}

/**
 * Why it refuses a model in which each name can come about: OpenFGA takes a name that several operands of an `and` or a
 * `but not` lead to for one that needs itself.
 */
export const knownRefusal = (dialect: Dialect, text: string): string | undefined =>
  dialect === 'openfga' && /no entrypoints defined|potential loop/.test(text)
    ? 'refuses a model for a loop that is none'
    : undefined;
