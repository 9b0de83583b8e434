// The differences between grantd and cel-go that docs/guides/conditions.md lists, and how an answer shows that it is
// one of them.

import type { ConditionAnswer } from './answers.ts';
import type { ConditionQuestion } from './questions.ts';

interface Situation {
  readonly question: ConditionQuestion;
  readonly own: ConditionAnswer;
}

export interface DocumentedDifference {
  /** As the first column of the table has it. */
  readonly expression: string;
  /** Absent: no answer differs, since the conversion rewrites or refuses the expression, or no question shows it. */
  readonly explains?: (situation: Situation) => boolean;
  /** Of what the conversion keeps: an expression that has another answer in cel-go. */
  readonly example?: string;
}

const failsWith = (answer: ConditionAnswer, reason: RegExp): boolean =>
  answer.kind === 'failed' && reason.test(answer.reason ?? '');

/** A number beyond 2^53, or what makes one of a smaller number. */
const isBeyondDoubles = ({ expression, context }: ConditionQuestion): boolean =>
  /\d{16}|e21|e308/.test(expression + JSON.stringify(context));

export const DIFFERENCES: readonly DocumentedDifference[] = [
  { expression: '`d.getMilliseconds()` of a duration' },
  { expression: '`string()` of a double, or of `any`' },
  { expression: '`string()` of a timestamp' },
  { expression: '`string()` of a duration' },
  { expression: '`int()` of a duration' },
  {
    expression: '`getHours()`, `getMinutes()`, `getSeconds()` of a duration',
    example: 'duration("492311h59m59.999999999s").getSeconds()',
  },
  {
    expression: '`==`, `!=`, `in` between an integer and a double beyond 2⁵³',
    example: 'dyn(9007199254740993) == dyn(9007199254740992.0)',
    explains: ({ question }) =>
      /\bdyn\(|\ba\b/.test(question.expression) && /==|!=| in /.test(question.expression) && isBeyondDoubles(question),
  },
  {
    expression: '`has(a.b)`, `a` being `any` and no map',
    example: 'has(a.b)',
    explains: ({ question, own }) => question.expression.includes('has(') && failsWith(own, /does not apply/),
  },
  {
    expression: '`<`, `<=`, `>`, `>=` between NaN and an `any` that is no number',
    example: 'a < double("NaN")',
    explains: ({ question, own }) =>
      /NaN|0\.0 \//.test(question.expression + JSON.stringify(question.context)) &&
      /[<>]/.test(question.expression) &&
      failsWith(own, /does not apply/),
  },
  {
    expression: 'a time zone `""` or `"5:30"`',
    example: 'timestamp("2026-01-31T09:00:00Z").getHours("5:30")',
    explains: ({ own }) => failsWith(own, /no time zone of that name/),
  },
];
