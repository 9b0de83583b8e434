// What a revocation would change, in words: who loses what, who gains what, and why there may be more.

import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { parseGroup } from '../../../../src/rules/compiled-rules.ts';
import type { RuleSet } from '../../../../src/rules/rule-set.ts';
import type { AccessChange, AccessChanges, OpenPoint } from '../access-changes.ts';
import { count, entityLink, objectLink, plural, table } from './parts.ts';

const ROWS_MAX = 20;
const OBJECTS_MAX = 5;
const SUBJECTS_MAX = 10;

const reasonOf = (open: OpenPoint, { subjects }: AccessChanges): string => {
  switch (open) {
    case 'subjects':
      return `Of the subjects that these grants concern, only ${count(subjects)} were compared.`;
    case 'everyone':
      return 'They concern everyone of a public namespace, who cannot be listed.';
    case 'gates':
      return 'Rules with “all of” or “but not” can let them concern subjects that were not compared.';
    case 'objects':
      return 'Some subjects hold a name on very many objects, of which only the first were compared.';
    case 'context':
      return 'Conditions depend on a context that only a check brings along: what they decide is not known here.';
    case 'failed':
      return 'Some comparisons were too large, or got no answer.';
  }
};

const isGroupIn =
  ({ groups }: RuleSet) =>
  (subject: string): boolean =>
    groups && parseGroup(subject) !== undefined;

/** The first few, separated by commas, and how many more there are. */
function someOf(texts: readonly string[], shownMax: number, shown: (text: string) => Markup): Markup {
  const rest = texts.length - shownMax;
  return html`${texts.slice(0, shownMax).map((text, index) => html`${index > 0 && ', '}${shown(text)}`)}${
    rest > 0 && ` and ${count(rest)} more`
  }`;
}

/** Names that several subjects lose or gain on the same objects. */
interface Row {
  readonly names: readonly string[];
  readonly objects: readonly string[];
  /** Groups last: they stand for their members, who are listed too. */
  readonly subjects: readonly string[];
}

/** Changes that differ in their subject alone, or in their name alone, share a row. */
function rowsOf(changes: readonly AccessChange[], isGroup: (subject: string) => boolean): readonly Row[] {
  const byName = Map.groupBy(changes, ({ name, objects }) => [name, ...objects].join(' '));
  const rows = Array.from(byName.values(), (each): Row => {
    const subjects = each.map(({ subject }) => subject);
    return {
      names: each.slice(0, 1).map(({ name }) => name),
      objects: each[0]?.objects ?? [],
      subjects: subjects.toSorted((one, other) => Number(isGroup(one)) - Number(isGroup(other))),
    };
  });
  const same = Map.groupBy(rows, ({ subjects, objects }) => `${subjects.join(' ')} on ${objects.join(' ')}`);
  return Array.from(same.values(), (each) => ({
    names: each.flatMap(({ names }) => names),
    objects: each[0]?.objects ?? [],
    subjects: each[0]?.subjects ?? [],
  }));
}

function changesTable(tenantId: string, ruleSet: RuleSet, verb: string, changes: readonly AccessChange[]): Markup {
  const isGroup = isGroupIn(ruleSet);
  const rows = rowsOf(changes, isGroup);
  const subjectMarkup = (subject: string): Markup =>
    html`${entityLink(tenantId, subject, ruleSet.groups)}${isGroup(subject) && html` <small>group</small>`}`;
  return html`${table<Row>(`Who ${verb.toLowerCase()} access`, rows.slice(0, ROWS_MAX), [
    ['Who', ({ subjects }) => someOf(subjects, SUBJECTS_MAX, subjectMarkup)],
    [verb, ({ names }) => html`<strong>${names.join(', ')}</strong>`],
    ['On', ({ objects }) => someOf(objects, OBJECTS_MAX, (object) => objectLink(tenantId, object))],
  ])}${rows.length > ROWS_MAX && html`<p class="hint">… and ${plural(rows.length - ROWS_MAX, 'more line')}</p>`}`;
}

/** `2 subjects lose access to 3 objects`. A group counts through its members. */
function headline(ruleSet: RuleSet, { lost, open }: AccessChanges): string {
  const isGroup = isGroupIn(ruleSet);
  const single = lost.filter(({ subject }) => !isGroup(subject));
  const subjects = new Set(single.map(({ subject }) => subject)).size;
  const objects = new Set(single.flatMap((change) => change.objects)).size;
  if (subjects > 0) {
    const lose = `${plural(subjects, 'subject')} ${subjects === 1 ? 'loses' : 'lose'} access to ${plural(objects, 'object')}`;
    return open.size === 0 ? lose : `At least ${lose}`;
  }
  if (open.size > 0) return 'It is not known who loses access';
  return lost.length > 0 ? 'Nobody loses access now' : 'Nobody loses access';
}

export function accessChangesMarkup(tenantId: string, ruleSet: RuleSet, changes: AccessChanges): Markup {
  const { lost, gained, open } = changes;
  const isOfGroup = isGroupIn(ruleSet);
  const isKnown = open.size === 0;
  return html`<section class="access-changes" aria-labelledby="access-changes-title">
    <h3 id="access-changes-title">${headline(ruleSet, changes)}</h3>
    ${lost.length > 0 && changesTable(tenantId, ruleSet, 'Loses', lost)}
    ${lost.length > 0 && isKnown && lost.every(({ subject }) => isOfGroup(subject)) && html`<p>Only those who join the group later would have had it.</p>`}
    ${lost.length === 0 && isKnown && html`<p>Other grants and the rules still give everything that these grants give.</p>`}
    ${
      gained.length > 0 &&
      html`<h3>Access that is gained</h3>
        <p>The rules take this away as long as the grants exist.</p>
        ${changesTable(tenantId, ruleSet, 'Gains', gained)}`
    }
    ${!isKnown && html`<ul class="hint">${[...open].map((each) => html`<li>${reasonOf(each, changes)}</li>`)}</ul>`}
  </section>`;
}
