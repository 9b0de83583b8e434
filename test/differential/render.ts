// What a run prints: figures, and a difference with all that is needed to see it again.

import { textOfElement } from '../../src/rules/rule-set.ts';
import type { Difference, RunResult, Situation } from './compare.ts';
import { renderAnswer, renderQuestion } from './question.ts';

export function renderRun({ cases, asked, positive, refused }: RunResult, seconds: number): string {
  const share = `${((100 * positive) / Math.max(1, asked)).toFixed(1)} %`;
  return `${asked} questions in ${cases} cases in ${seconds.toFixed(0)} s: ${share} with an answer other than no or nothing, ${refused} refused for a limit`;
}

function renderSituation({ world, changes, question }: Situation): string {
  const { rules, groups, public: namespaces } = world.ruleSet;
  const lines = [
    ...rules.map(({ namespace, name, anyOf }) => `  ${namespace} ${name}: ${anyOf.map(textOfElement).join(' | ')}`),
    `  groups: ${groups}, public: ${namespaces.join(' ') || 'none'}`,
    'changes, one write each:',
    ...changes.map((part) =>
      part
        .map((each) => `  ${each.revoke ? 'revoke' : 'grant'} ${each.subject} ${each.relation} ${each.object}`)
        .join('\n'),
    ),
    `question: ${renderQuestion(question)}`,
  ];
  return `rules:\n${lines.join('\n')}\n`;
}

/** `smallest`: undefined if the situation could not be brought about again. */
export function renderDifference(difference: Difference, smallest: Situation | undefined, seed: number): string {
  const { own, right, question, case: number } = difference;
  return [
    `A difference between grantd and the definition of rules; seed ${seed}, case ${number}:`,
    `  ${renderQuestion(question)}`,
    `  grantd: ${renderAnswer(own)}`,
    `  the definition: ${renderAnswer(right)}`,
    smallest === undefined ? 'It did not show again in a world of its own. The whole case:' : 'As small as it gets:',
    renderSituation(smallest ?? difference),
    `Again: npm run fuzz -- rules --seed ${seed} --case ${number}`,
    '',
  ].join('\n');
}
