// What a revocation would change, in words: who loses what, who gains what, and why there may be more.

import { html, type Markup } from '../../../http/pages/markup.ts';
import { parseGroup } from '../../../rules/compiled-rules.ts';
import type { RuleSet } from '../../../rules/rule-set.ts';
import type { AccessChange, AccessChanges, Open } from '../access-changes.ts';
import { count, entityLink, objectLink, plural, table } from './parts.ts';

const ROWS_MAX = 20;
const OBJECTS_MAX = 5;

const reasonOf = (open: Open, { subjects }: AccessChanges): string => {
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

/** A subject, and names that it loses or gains on the same objects. */
interface Row {
  readonly subject: string;
  readonly names: string;
  readonly objects: readonly string[];
}

const isGroupIn =
  ({ groups }: RuleSet) =>
  ({ subject }: { readonly subject: string }): boolean =>
    groups && parseGroup(subject) !== undefined;

function rowsOf(changes: readonly AccessChange[]): readonly Row[] {
  const same = Map.groupBy(changes, ({ subject, objects }) => [subject, ...objects].join(' '));
  return Array.from(same.values(), (each) => ({
    subject: each[0]?.subject ?? '',
    names: each.map(({ name }) => name).join(', '),
    objects: each[0]?.objects ?? [],
  }));
}

function objectsMarkup(tenantId: string, objects: readonly string[]): Markup {
  const links = objects
    .slice(0, OBJECTS_MAX)
    .flatMap((object, index) => [index === 0 ? '' : ', ', objectLink(tenantId, object)]);
  const rest = objects.length - OBJECTS_MAX;
  return html`${links}${rest > 0 && ` and ${count(rest)} more`}`;
}

function changesTable(tenantId: string, ruleSet: RuleSet, verb: string, changes: readonly AccessChange[]): Markup {
  const isGroup = isGroupIn(ruleSet);
  // A group stands for its members, who are listed too.
  const rows = rowsOf(changes).toSorted((one, other) => Number(isGroup(one)) - Number(isGroup(other)));
  return html`${table<Row>(`Who ${verb.toLowerCase()} access`, rows.slice(0, ROWS_MAX), [
    [
      'Subject',
      (row) => html`${entityLink(tenantId, row.subject, ruleSet.groups)}${isGroup(row) && html` <small>group</small>`}`,
    ],
    [verb, ({ names }) => html`<strong>${names}</strong>`],
    ['On', ({ objects }) => objectsMarkup(tenantId, objects)],
  ])}${rows.length > ROWS_MAX && html`<p class="hint">… and ${plural(rows.length - ROWS_MAX, 'more line')}</p>`}`;
}

/** `2 subjects lose access to 3 objects`. A group counts through its members. */
function headline(ruleSet: RuleSet, { lost, open }: AccessChanges): string {
  const isGroup = isGroupIn(ruleSet);
  const single = lost.filter((change) => !isGroup(change));
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
    ${lost.length > 0 && isKnown && lost.every(isOfGroup) && html`<p>Only those who join the group later would have had it.</p>`}
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
