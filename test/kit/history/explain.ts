// Makes a refusal readable: as few operations as still contradict each other, in order of time, one line each. Only
// what can be left out without making a contradiction of its own is left out: reads, and what came after the last
// answer.

import type { Operation, Outcome } from './history.ts';
import { type LinearizerOptions, linearize } from './linearizer.ts';
import { type RegisterStep, tupleText } from './registers.ts';

const LINES_MAX = 40;
/** Steps replayed while shrinking: some seconds. */
const REPLAYED_MAX = 3_000_000;

const isRead = ({ effect }: RegisterStep): boolean => effect.kind === 'read' || effect.kind === 'read-identity';

/**
 * The steps that cannot be put in order, fewer than were given. The last of them is the answer that nothing explains.
 */
export function shrink(steps: readonly RegisterStep[], options: LinearizerOptions): RegisterStep[] {
  let replayed = 0;
  const stuckAt = (candidate: readonly RegisterStep[]): RegisterStep | undefined => {
    replayed += candidate.length;
    const result = linearize(candidate, options);
    return result.kind === 'stuck' ? candidate.find((step) => step === result.at) : undefined;
  };
  const upTo = (candidate: readonly RegisterStep[], last: RegisterStep): RegisterStep[] =>
    candidate.filter(({ invokedAt }) => invokedAt <= (last.returnedAt ?? Number.POSITIVE_INFINITY));
  let last = stuckAt(steps);
  if (last === undefined) return [...steps];
  let kept = upTo(steps, last);
  for (let size = kept.length; size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < kept.length && replayed < REPLAYED_MAX; start += size) {
      const part = new Set(kept.slice(start, start + size).filter(isRead));
      if (part.size === 0) continue;
      const rest = kept.filter((step) => !part.has(step));
      const stuck = stuckAt(rest);
      if (stuck === undefined) continue;
      last = stuck;
      kept = upTo(rest, stuck);
      start -= size;
    }
  }
  const answer = last;
  kept.sort((left, right) => left.invokedAt - right.invokedAt);
  return [...kept.filter((step) => step !== answer), answer];
}

/** `last` marks the last line as the one that nothing explains. */
export function describeOperations(operations: readonly Operation[], last: string): string {
  const shown = operations.slice(-LINES_MAX);
  const lines = shown.map((operation, index) => {
    const mark = index === shown.length - 1 ? `   <-- ${last}` : '';
    return `  ${describeOperation(operation)}${mark}`;
  });
  const left = operations.length - shown.length;
  return [...(left > 0 ? [`  … ${left} earlier operations`] : []), ...lines].join('\n');
}

function describeOperation(operation: Operation): string {
  const { client, invokedAt, returnedAt } = operation;
  const end = returnedAt === undefined ? 'no answer' : returnedAt.toFixed(3);
  return `${invokedAt.toFixed(3)} .. ${end}  ${client}  ${describeCall(operation)} => ${describeOutcome(operation)}`;
}

function describeCall({ kind, input }: Operation): string {
  switch (kind) {
    case 'grant':
    case 'revoke':
    case 'check':
      return `${kind} ${tupleText(input)}`;
    case 'bulk':
      return `${kind} [${input.map(tupleText).join(', ')}]`;
    case 'list':
      return `${kind} ${input.subject} ${input.relation} ${input.namespace ?? ''} after ${input.after ?? 'the start'}`;
    case 'holders':
      return `${kind} ${input.object} ${input.relation} ${input.namespace ?? ''} after ${input.after ?? 'the start'}`;
    case 'export':
      return `${kind} ${input.subject ?? input.object ?? 'all'} after ${input.after === undefined ? 'the start' : tupleText(input.after)}`;
    case 'write-bulk': {
      const preconditions = input.preconditions.map((each) => `${each.exists ? '' : 'no '}${tupleText(each)}`);
      const changes = [
        ...input.grants.map((each) => `+ ${tupleText(each)}`),
        ...input.revocations.map((each) => `- ${tupleText(each)}`),
      ];
      return `${kind} [${changes.join(', ')}] if [${preconditions.join(', ')}]`;
    }
    case 'clear':
      return `${kind} ${Object.values(input.of)} ${input.relation ?? 'all'}`;
    case 'subjects':
    case 'keys':
      return `${kind} after ${input.after ?? 'the start'}`;
    case 'create-key':
      return `${kind} ${input.name}`;
    case 'revoke-key':
      return `${kind} ${input.keyId}`;
  }
}

function describeOutcome({ kind, outcome }: Operation): string {
  if (outcome === undefined) return 'unknown';
  switch (outcome.kind) {
    case 'created':
    case 'exists':
      return `${outcome.kind} ${outcome.grantId}`;
    case 'answer':
      if ('authorized' in outcome) return String(outcome.authorized);
      return `[${itemsOf(outcome).join(', ')}]${outcome.more ? ' and more' : ''}`;
    case 'written':
      return `[${[...outcome.grants.map((grant) => `${grant.kind} ${grant.grantId}`), ...outcome.revoked].join(', ')}]`;
    case 'unmet':
      return `condition ${outcome.precondition} not met`;
    case 'cleared':
      return `${outcome.count}${outcome.complete ? '' : ' and more'}`;
    case 'key':
      return outcome.keyId;
    case 'revoked':
    case 'not-found':
    case 'unauthorized':
    case 'refused':
      return kind === 'revoke-key' ? `${outcome.kind} (key)` : outcome.kind;
  }
}

/** What a page lists. */
function itemsOf(page: Extract<Outcome, { readonly more: boolean }>): readonly string[] {
  if ('objects' in page) return page.objects;
  if ('subjects' in page) return page.subjects;
  if ('grants' in page) return page.grants.map((grant) => `${tupleText(grant)} ${grant.grantId}`);
  return page.keys.map(({ keyId, name }) => `${keyId} (${name})`);
}
