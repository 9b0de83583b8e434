// What a run prints: figures, and a difference with all that is needed to see it again.

import { textOfElement } from '../../src/rules/rule-set.ts';
import type { Difference, RunResult, Situation, Tally } from './compare.ts';
import { NaivePeer } from './peers/naive.ts';
import { renderAnswer, renderQuestion } from './question.ts';

const share = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;

function renderTally(name: string, { asked, positive, unasked, limits }: Tally): string {
  const refused = [...limits].toSorted().map(([reason, count]) => `${reason} ${count}`);
  return [
    `${name}: ${asked} questions, ${share(positive, asked)} with an answer other than no or nothing`,
    ...(unasked === 0 ? [] : [`  ${unasked} questions that it does not have`]),
    ...(refused.length === 0 ? [] : [`  refused for a limit, which is no difference: ${refused.join(', ')}`]),
  ].join('\n');
}

export function renderRun({ cases, tallies }: RunResult, seconds: number): string {
  return [
    `${cases} cases in ${seconds.toFixed(0)} s`,
    ...Array.from(tallies, ([name, tally]) => renderTally(name, tally)),
    '',
  ].join('\n');
}

export function renderSituation({ world, changes, question }: Situation): string {
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

/** What the definition says about it. */
async function renderDefinition({ world, changes, question }: Situation): Promise<string> {
  const definition = new NaivePeer();
  await definition.begin(world);
  for (const part of changes) await definition.write(part);
  return renderAnswer(await definition.answer(question));
}

/** `smallest`: undefined if the situation could not be brought about again. */
export async function renderDifference(
  difference: Difference & { readonly case: number },
  smallest: Situation | undefined,
  seed: number,
): Promise<string> {
  const { peer, own, theirs, case: number } = difference;
  const shown = smallest ?? difference;
  return [
    `A difference between grantd and ${peer.name}; seed ${seed}, case ${number}:`,
    `  ${renderQuestion(difference.question)}`,
    `  grantd: ${renderAnswer(own)}`,
    `  ${peer.name}: ${renderAnswer(theirs)}`,
    smallest === undefined ? 'It did not show again in a world of its own. The whole case:' : 'As small as it gets:',
    renderSituation(shown),
    `the definition of rules says: ${await renderDefinition(shown)}`,
    `Again: npm run fuzz -- rules --seed ${seed} --case ${number} --peers ${peer.name}`,
    '',
  ].join('\n');
}
