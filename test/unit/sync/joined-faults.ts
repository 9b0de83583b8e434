// Faults of lists that are joined with a mirror, each planted in the code as it is loaded: what the comparison with the
// definition must find.

import type { MutationEdit } from '../../simulation/mutations.ts';

export interface JoinFault {
  readonly name: string;
  readonly what: string;
  readonly edits: readonly MutationEdit[];
}

const STATEMENTS = 'packages/sync/src/join-sql.ts';
const REFUSALS = 'packages/sync/src/refusals.ts';
const SETS = 'src/shard/evaluation/evaluate-sets.ts';

/** What a mirror needs, lest it refuses. */
const refusalIgnored = (name: string, what: string, condition: string): JoinFault => ({
  name,
  what,
  edits: [{ file: REFUSALS, within: 'refusalsBy', find: condition, replace: "'true'" }],
});

export const JOIN_FAULTS: readonly JoinFault[] = [
  {
    name: 'no-as-of',
    what: 'The newest rows count, and not those of the moment of the sets.',
    edits: [
      {
        file: STATEMENTS,
        within: 'isLive',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the program
        find: '${row}.since <= ${seq} AND ${seq} < ${row}.until',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the program
        replace: '${seq} IS NOT NULL AND ${row}.until = 9007199254740991',
      },
    ],
  },
  // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the program
  refusalIgnored('through-not-awaited', 'A mirror that is behind answers.', '`p.seq >= ${through}`'),
  refusalIgnored(
    'stale-answered',
    'A mirror answers about a moment of which it has no longer all rows.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the program
    '`p.horizon <= ${atSeq}`',
  ),
  refusalIgnored(
    'other-rules-answered',
    'A join of other rules than those of the sets answers.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the program
    '`p.revision = ${revision}`',
  ),
  {
    name: 'half-an-entry',
    what: 'Rows are visible before their entry is complete.',
    edits: [
      {
        file: 'packages/sync/src/service-source.ts',
        within: 'changes',
        find: "seq: numberOf(page.body, 'seq'),\n      cursor",
        replace:
          "seq: Math.max(numberOf(page.body, 'seq'), ...changes.map((each) => numberOf(each, 'seq'))),\n      cursor",
      },
    ],
  },
  {
    name: 'undefined-as-true',
    what: 'What a condition decides is true.',
    edits: [{ file: STATEMENTS, within: 'sure', find: 'THEN 1 ELSE 2', replace: 'THEN 2 ELSE 2' }],
  },
  {
    name: 'everyone-left-out',
    what: 'The sets of a subject lack `user:*`.',
    edits: [{ file: SETS, within: 'answerOf', find: '...compiled.subjectsOf(subject)', replace: 'subject' }],
  },
  {
    name: 'gate-passed',
    what: 'A join does not stop at a container with a gate.',
    edits: [
      {
        file: 'src/rules/join.ts',
        within: 'nestedName',
        find: 'if (gates.length > 0)',
        replace: 'if (gates.length < 0)',
      },
    ],
  },
  {
    name: 'clock-of-the-database',
    what: 'A grant expires by the clock of the database.',
    edits: [
      {
        file: STATEMENTS,
        within: 'isLive',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the program
        find: "${parameter('at_time')}",
        replace: '(1000 * unixepoch())',
      },
    ],
  },
  {
    name: 'namespaces-of-groups-forgotten',
    what: 'A grant to the first group or container of a namespace does not add the namespace to those that are searched.',
    edits: [
      {
        file: 'src/shard/memory/tenant-memory.ts',
        within: 'commitGrant',
        find: 'this.#used?.subjectNamespaces?.add(subject);',
        replace: '',
      },
    ],
  },
  {
    name: 'plain-subject-as-a-group',
    what: 'Without groups, a subject that looks like one is no container.',
    edits: [{ file: STATEMENTS, within: 'isEntity', find: "groups ? '0' : '0, 1'", replace: "'0'" }],
  },
  {
    name: 'group-as-a-container',
    what: 'With groups, a group is a container.',
    edits: [{ file: STATEMENTS, within: 'isEntity', find: "groups ? '0' : '0, 1'", replace: "'0, 1'" }],
  },
  {
    name: 'one-list-of-sets',
    what: 'What is held on containers counts as a subject, too.',
    edits: [
      {
        file: SETS,
        within: 'answerOf',
        find: '...everyone, ...groups]',
        replace: '...everyone, ...groups, ...held]',
      },
    ],
  },
  {
    name: 'revocation-untouched',
    what: 'The sets do not say that the mirror has to have a revocation.',
    edits: [
      {
        file: 'src/shard/memory/tenant-memory.ts',
        within: 'commitGrant',
        find: 'this.#used?.touched?.commit(',
        replace: 'if (facts !== null) this.#used?.touched?.commit(',
      },
    ],
  },
  {
    name: 'row-not-ended',
    what: 'A change of a grant does not end the row before it.',
    edits: [
      {
        file: 'packages/sync/src/mirror.ts',
        within: 'batchOf',
        find: 'ended.push({ object, relation, subject, since: first.seq });',
        replace: 'if (first.isThere) ended.push({ object, relation, subject, since: first.seq });',
      },
    ],
  },
];
