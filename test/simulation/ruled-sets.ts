// The judge of sets and joins (POST /v1/sets, GET /v1/join) about a tenant with rules. Sets name the entry of the log
// of which they are, and the audit log the entry of each version, so they are judged against one version, at one time:
// over the grants that the join mirrors, as of that version, they are to say what the definition says of every object.
// A mirror that has come to `through` has to be right, so no later version up to theirs changes a grant that it has.

import type { CallContext } from '../../src/core/call-context.ts';
import { namespaceOf, type Tuple } from '../../src/core/tuples.ts';
import { CompiledRules } from '../../src/rules/compiled-rules.ts';
import { type Join, type JoinQuery, joinSteps } from '../../src/rules/join.ts';
import { type RuleSet, revisionOfRules, textOfRules } from '../../src/rules/rule-set.ts';
import { complete } from '../../src/rules/steps.ts';
import type { AuditRecord, SubjectSets } from '../../src/shard/shard.ts';
import { NaiveJoin } from '../kit/naive-join.ts';
import { type NaiveGrant, naiveModel, type Truth } from '../kit/naive-rules.ts';
import { stateAfter } from './expired-states.ts';
import { grantsIn } from './gated-universe.ts';
import type { RuledState, RuledVersion } from './ruled-history.ts';
import { DOCS, FOLDERS, GROUPS, markGrant, type RuledGrant, textOfTuple } from './ruled-universe.ts';

export interface SetsQuestion extends JoinQuery {
  readonly subject: string;
  readonly perhaps: boolean;
}

export const revisionOf = (ruleSet: RuleSet): string => revisionOfRules(textOfRules(ruleSet));

const joinsOf = new WeakMap<RuleSet, Map<string, Join>>();

/** Undefined: no rule defines the name. */
export function joinIn({ ruleSet }: RuledState, { namespace, name, deep }: JoinQuery): Join | undefined {
  const known = joinsOf.get(ruleSet) ?? new Map<string, Join>();
  joinsOf.set(ruleSet, known);
  const query = { namespace, name, deep };
  const key = JSON.stringify(query);
  const found = known.get(key);
  if (found !== undefined) return found;
  const rules = new CompiledRules(ruleSet);
  const number = rules.numberOf(name);
  if (number === undefined) return undefined;
  const join = complete(joinSteps(ruleSet, rules, query, number));
  known.set(key, join);
  return join;
}

const isMirrored = ({ mirror }: Join, { relation, object }: Pick<Tuple, 'object'> & { readonly relation: string }) =>
  mirror.some(({ namespace, relations }) => namespace === namespaceOf(object) && relations.includes(relation));

/** Whether the call brings along a grant that the join mirrors. */
export const addsMirrored = (join: Join, { contextGrants = [] }: CallContext): boolean =>
  contextGrants.some((grant) => isMirrored(join, grant));

/** A mirror does not evaluate conditions. */
const undecided = ({ condition, ...grant }: NaiveGrant): NaiveGrant =>
  condition === undefined ? grant : { ...grant, condition: 'undefined' };

/** The seq at which each version was written. Undefined: the audit log tells other versions. */
export function seqsOf(versions: readonly RuledVersion[], rows: readonly AuditRecord[]): readonly number[] | undefined {
  const ascending = rows.toSorted((left, right) => left.seq - right.seq || left.index - right.index);
  const written = ascending.flatMap(({ seq, change }) => {
    const { action, subject } = JSON.parse(change);
    if (action === 'rules.updated') return [{ seq, mark: undefined }];
    return action === 'grant.created' && subject.startsWith('mark:') ? [{ seq, mark: subject }] : [];
  });
  const isTold = versions.slice(1).every(({ state, before }, index) => {
    const isOfGrants = state.grantsVersion !== before?.state.grantsVersion;
    return written[index]?.mark === (isOfGrants ? markGrant(state.grantsVersion).subject : undefined);
  });
  return isTold && written.length === versions.length - 1 ? [0, ...written.map(({ seq }) => seq)] : undefined;
}

/** What the versions, of which `seqs` are the entries, have against the sets. Undefined: nothing. */
export function complaintAbout(
  sets: SubjectSets,
  question: SetsQuestion & { readonly call: CallContext },
  versions: readonly RuledVersion[],
  seqs: readonly number[],
): string | undefined {
  const index = seqs.findLastIndex((seq) => seq <= sets.seq);
  const version = versions[index];
  if (version === undefined) return 'no version is of that entry';
  const state = stateAfter(version.state, sets.timeMs);
  const join = joinIn(state, question);
  if (join === undefined) return 'no rule defines the name';
  if (sets.revision !== revisionOf(state.ruleSet)) return 'the rules have another revision';
  if (addsMirrored(join, question.call)) return 'the call brings along what the join mirrors';
  if (sets.perhaps.length > 0 && !question.perhaps) return 'what is undecided was not asked for';
  return (
    complaintOfThrough(sets, join, versions.slice(0, index + 1), seqs) ?? complaintOfJoin(sets, question, state, join)
  );
}

function complaintOfThrough(
  { seq, through, timeMs }: SubjectSets,
  join: Join,
  versions: readonly RuledVersion[],
  seqs: readonly number[],
): string | undefined {
  if (through > seq) return 'the mirror has to be further than the sets';
  /** What a mirror shows at the time of the sets. */
  const rowsOf = ({ grants }: RuledState): ReadonlySet<string> =>
    new Set(
      [...grants.values()]
        .filter((grant) => isMirrored(join, grant) && (grant.expiresAtMs ?? Number.POSITIVE_INFINITY) > timeMs)
        .map((grant: RuledGrant) => `${textOfTuple(grant)} ${grant.condition} ${grant.expiresAtMs}`),
    );
  for (let index = versions.length - 1; index > 0 && (seqs[index] ?? 0) > through; index -= 1) {
    const [before, after] = [versions[index - 1], versions[index]];
    if (before === undefined || after === undefined || before.state.grants === after.state.grants) continue;
    const [different] = rowsOf(before.state).symmetricDifference(rowsOf(after.state));
    if (different !== undefined) return `entry ${seqs[index]} changes ${different}, which is mirrored`;
  }
  return undefined;
}

function complaintOfJoin(
  sets: SubjectSets,
  { subject, name, namespace, call }: SetsQuestion & { readonly call: CallContext },
  { ruleSet, grants: stored }: RuledState,
  join: Join,
): string | undefined {
  const grants = grantsIn(stored.values(), call);
  const joined = new NaiveJoin(join, grants.map(undecided), sets);
  const model = naiveModel(ruleSet, grants, subject);
  let mirrored: ReturnType<typeof naiveModel> | undefined;
  /** As far as a mirror can tell. */
  const mirroredTruth = (object: string): Truth => {
    mirrored ??= naiveModel(
      ruleSet,
      grants.map((grant) => (isMirrored(join, grant) ? undecided(grant) : grant)),
      subject,
    );
    return mirrored.truthOf(name, object);
  };
  for (const object of [...DOCS, ...FOLDERS, ...GROUPS].filter((each) => namespaceOf(each) === namespace)) {
    const found = joined.truthOf(object);
    const expected = found === 'undefined' ? mirroredTruth(object) : model.truthOf(name, object);
    if (found !== expected) return `${object} is ${found} by the join and ${expected} by the rules`;
  }
  return undefined;
}
