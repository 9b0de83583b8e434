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

/** Whether OpenFGA needs a value for the condition that neither the tuple nor the call has, though none may matter. */
const lacksParameter = ({ condition }: Tuple, { converted, question }: Situation): boolean =>
  Object.keys(conditionOf(converted.model, condition?.name)?.parameters ?? {}).some(
    (name) => condition?.context[name] === undefined && question.context[name] === undefined,
  );

/** Whether OpenFGA may read both tuples at once: those on an object, or those of a subject, with the same relation. */
function areReadTogether(one: Tuple, other: Tuple): boolean {
  if (one.relation !== other.relation) return false;
  if (one.object === other.object) return true;
  const [from, to] = [one.subject, other.subject];
  const isSameSubject = from === to || [from, to].includes(`${typeOf(from)}:*`);
  return typeOf(one.object) === typeOf(other.object) && typeOf(from) === typeOf(to) && isSameSubject;
}

/**
 * Those that OpenFGA 1.22.1 passes over: they lack a parameter, and another one that it reads with them does not, and
 * is met (`ConditionsFilteredTupleKeyIterator` then drops the error).
 */
async function passedOver(situation: Situation): Promise<readonly Tuple[]> {
  const { converted, tuples, question } = situation;
  const all = [...tuples, ...question.contextTuples];
  const met = (await converted.metOf(all, question.context)).filter((each) => !lacksParameter(each, situation));
  return all.filter((each) => lacksParameter(each, situation) && met.some((other) => areReadTogether(each, other)));
}

/** Whether the peer answers of each entity, and of a check, as if these tuples were not there, or as it should. */
async function missesSome(situation: Situation, theirs: Facts, meant: Meaning, missed: readonly Tuple[]) {
  if (missed.length === 0) return false;
  const { converted, tuples, question } = situation;
  const isFound = (tuple: Tuple): boolean => !missed.includes(tuple);
  const asked = { ...question, contextTuples: question.contextTuples.filter(isFound) };
  return liesBetween(question, theirs, [meant, await converted.meaningOf(tuples.filter(isFound), asked)]);
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
    if (!all.some((tuple) => lacksParameter(tuple, situation) && isRead(tuple))) return undefined;
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
  const lost = isSpicedb ? tuples.filter((tuple) => isLost(tuple, situation)) : [];
  if (await missesSome(situation, theirs, meant, lost))
    return 'does not find a tuple with a condition, as its relation takes groups of the type of its subject';
  if (isSpicedb && agrees(question, theirs, await converted.meaningOf(tuples, question, { unmet: true })))
    return 'demands the condition of each tuple that ".all" follows';
  if (!isSpicedb && (await missesSome(situation, theirs, meant, await passedOver(situation))))
    return 'passes over a tuple that lacks a parameter beside one that is met';
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
