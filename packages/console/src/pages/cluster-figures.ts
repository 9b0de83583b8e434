// The figures of the cluster page: of the whole cluster, and of each shard. Invariants: a figure above its bound is
// marked by a sign and in words, not only by colour. A shard that does not respond is shown with its last figures,
// grey, with their age.

import { CROWDED_SHARE_MIN } from '../../../../src/core/async/turns.ts';
import { span } from '../../../../src/core/text/timestamps.ts';
import type { MemberView, ReaderView, SlotView } from '../../../../src/front/front.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { type ClusterEvent, figuresOf, lagOf, largest } from '../cluster-history.ts';
import type { Look, ShardFigures } from '../cluster-watch.ts';
import { type ConsoleLinks, tenantPath } from '../page.ts';
import { asOf, code, count, foreign, plural, table, timeOfDay } from '../parts/parts.ts';
import { colourOf, ownerSwatch } from '../parts/slots-picture.ts';

/** The bounds are those of the alerts GrantdChecksSlow and GrantdWriteBehindLags, so that page and alerts agree. */
export const P99_MS_MAX = 100;
export const LAG_MAX = 10_000;
/** Above this, tenths of a millisecond are noise. */
const WHOLE_MS_FROM = 100;

export const NOT_KNOWN = '–';
/** Milliseconds with one digit, so that a column of them is aligned. */
export const milliseconds = (ms: number): string =>
  ms >= WHOLE_MS_FROM ? ms.toLocaleString('en', { maximumFractionDigits: 0 }) : ms.toFixed(1);
export const known = (number: number | undefined, digits = 0): string =>
  number === undefined ? NOT_KNOWN : number.toLocaleString('en', { maximumFractionDigits: digits });

/** A figure, marked if it is above its bound. */
function bounded(value: number | undefined, max: number, format: (value: number) => string): Markup {
  if (value === undefined || value <= max) return value === undefined ? NOT_KNOWN : format(value);
  return html`<span class="over"><span aria-hidden="true">▲ </span>${format(value)}<span class="unseen"> (above ${format(max)})</span></span>`;
}

export interface OwnerRow {
  readonly shardName: string;
  readonly members: readonly MemberView[];
  readonly slots: readonly SlotView[];
  /** The last figures that the shard reported; from `look.atMs` if it responded. */
  readonly figures: ShardFigures | undefined;
  /** How it ended within the last hour; undefined while it is a member. */
  readonly ended: Extract<ClusterEvent, { readonly kind: 'left' | 'lost' }> | undefined;
}

/** The shards that are members or own a slot, and those that were lost or left within the hour. */
export function ownersOf({ slots, members, lastFigures }: Look, events: readonly ClusterEvent[]): readonly OwnerRow[] {
  const live = (members ?? []).filter(({ state }) => state !== 'dead');
  const present = new Set([...live.map(({ shardName }) => shardName), ...slots.map(({ shardName }) => shardName)]);
  const ended = new Map<string, OwnerRow['ended']>();
  for (const event of events) {
    if (event.kind !== 'lost' && event.kind !== 'left') continue;
    const isBack = members === undefined || live.some(({ shardName }) => shardName === event.shardName);
    if (!isBack && !ended.has(event.shardName)) ended.set(event.shardName, event);
  }
  return [...new Set([...present, ...ended.keys()])]
    .filter((name) => name !== undefined)
    .sort()
    .map((shardName) => ({
      shardName,
      members: live.filter((member) => member.shardName === shardName),
      slots: slots.filter((slot) => slot.shardName === shardName),
      figures: lastFigures.get(shardName),
      ended: ended.get(shardName),
    }));
}

const isPresent = ({ ended }: OwnerRow): boolean => ended === undefined;
/** The shard is a member and has reported before, but did not respond this time. */
const isSilent = ({ figures, ended }: OwnerRow, look: Look): boolean =>
  look.loads !== undefined && ended === undefined && figures !== undefined && figures.atMs < look.atMs;

const tile = (
  title: string,
  value: Markup,
  more: Markup,
  alarming = false,
): Markup => html`<div class="tile ${alarming ? 'alarming' : ''}">
  <dt>${title}</dt><dd><strong>${alarming ? html`<span aria-hidden="true">▲ </span>` : undefined}${value}</strong><small>${more}</small></dd>
</div>`;

/** The alert that fires at a bound, with the way to its runbook. */
function alertOf(name: string, { runbookUrl }: ConsoleLinks): Markup {
  if (runbookUrl === undefined) return html`Alert ${name}`;
  const href = `${runbookUrl}#${name.toLowerCase()}`;
  return html`<a href=${href} target="_blank" rel="noreferrer">${name}</a>`;
}

export function tiles(look: Look, owners: readonly OwnerRow[], links: ConsoleLinks): Markup {
  const figures = figuresOf(look);
  const { checksPerSecond, p99Ms, failuresPerSecond, slotsDown = 0, lag } = figures;
  const slots = look.slots.length;
  const shards = plural(owners.filter(isPresent).length, 'shard');
  const silent = owners.filter((owner) => isSilent(owner, look)).length;
  const without =
    silent === 0 ? '' : `, without ${plural(silent, 'shard')} that ${silent === 1 ? 'does' : 'do'} not respond`;
  const isLagging = lag !== undefined && lag > LAG_MAX;
  const isFailing = (failuresPerSecond ?? 0) > 0;
  const isSlow = p99Ms !== undefined && p99Ms > P99_MS_MAX;
  return html`<dl class="tiles">
    ${tile('Slots serving', `${count(slots - slotsDown)} / ${count(slots)}`, slotsDown === 0 ? shards : html`${shards}; ${count(slotsDown)} not serving. ${alertOf('GrantdSlotsWithoutOwner', links)}`, slotsDown > 0)}
    ${tile('Checkpoint lag', known(lag), html`entries, in the slot with the largest lag${isLagging ? html`: above ${count(LAG_MAX)}. ${alertOf('GrantdWriteBehindLags', links)}` : ''}`, isLagging)}
    ${tile('Checks', html`${known(checksPerSecond)}<span class="unit"> / s</span>`, `over the last ten seconds${without}`)}
    ${tile('p99 of checks', html`${p99Ms === undefined ? NOT_KNOWN : milliseconds(p99Ms)}<span class="unit"> ms</span>`, html`of the slowest shard: ${isSlow ? 'above the limit of' : 'the limit is'} ${P99_MS_MAX} ms${isSlow && html`. ${alertOf('GrantdChecksSlow', links)}`}`, isSlow)}
    ${tile('Failures', html`${known(failuresPerSecond, 1)}<span class="unit"> / s</span>`, html`responses with status 500 or above${isFailing && html`. ${alertOf('GrantdRequestsFail', links)}`}`, isFailing)}
  </dl>`;
}

function session({ members, ended }: OwnerRow): Markup {
  if (ended !== undefined) {
    const word = ended.kind === 'lost' ? 'lost' : 'left';
    return html`<span class="badge member-${ended.kind === 'lost' ? 'dead' : 'draining'}">${word} at ${timeOfDay(ended.atMs)}</span>`;
  }
  if (members.length === 0) return html`<span class="badge member-dead">absent</span>`;
  return members.map(({ state }) => html`<span class="badge member-${state}">${state}</span>`);
}

/** Shards whose calls wait because of one tenant. */
export function crowdedWarnings(look: Look): readonly Markup[] {
  return (look.loads ?? []).flatMap(({ shardName, busiest }) => {
    if (busiest === undefined || busiest.share < CROWDED_SHARE_MIN) return [];
    const { tenantId, share } = busiest;
    return html`<p class="form-error">${foreign(shardName)} has more work than time: ${Math.round(100 * share)} % of the last ten seconds went to waiting calls of the tenant <a href=${tenantPath(tenantId)}>${code(tenantId)}</a>. Readers take its checks and listings to other shards.</p>`;
  });
}

export const readersTable = (readers: readonly (ReaderView & { readonly slot: number })[]): Markup =>
  table('Readers', readers, [
    ['Tenant', ({ tenantId }) => html`<a href=${tenantPath(tenantId)}>${code(tenantId)}</a>`],
    ['Reader', ({ shardName }) => foreign(shardName)],
    ['Slot', ({ slot }) => count(slot), 'number'],
    ['Epoch', ({ epoch }) => count(epoch), 'number'],
    ['Position', ({ position }) => count(position), 'number'],
    ['Calls', ({ calls }) => count(calls), 'number'],
    ['Read indexes', ({ readIndexes }) => count(readIndexes), 'number'],
    ['Handed over', ({ handedOver }) => count(handedOver), 'number'],
    ['Begun', ({ begun }) => count(begun), 'number'],
  ]);

export function ownersTable(owners: readonly OwnerRow[], look: Look): Markup {
  const aged =
    (figure: (row: OwnerRow) => Markup) =>
    (row: OwnerRow): Markup =>
      row.figures !== undefined && row.figures.atMs < look.atMs
        ? html`<span class="outdated">${figure(row)}</span>`
        : figure(row);
  return table<OwnerRow>('Shards', owners, [
    ['Shard', ({ shardName }) => html`${ownerSwatch(colourOf(look.colours, shardName))} ${foreign(shardName)}`],
    [
      'Session',
      (row) =>
        isSilent(row, look)
          ? html`${session(row)} <small>no response, ${asOf(row.figures?.atMs ?? look.atMs, look.atMs)}</small>`
          : session(row),
    ],
    [
      'Lease left',
      ({ members }) => {
        const leaseLeftMs = members[0]?.leaseLeftMs;
        return leaseLeftMs === undefined ? NOT_KNOWN : `${(leaseLeftMs / 1000).toFixed(1)} s`;
      },
      'number',
    ],
    ['Slots', ({ slots }) => count(slots.length), 'number'],
    ['Lag', aged(({ slots, figures }) => bounded(largest(slots, lagOf) ?? figures?.lag, LAG_MAX, count)), 'number'],
    ['Checks/s', aged(({ figures }) => known(figures?.load.checksPerSecond)), 'number'],
    ['p99 ms', aged(({ figures }) => bounded(figures?.load.p99Ms, P99_MS_MAX, milliseconds)), 'number'],
    ['Failures/s', aged(({ figures }) => known(figures?.load.failuresPerSecond, 1)), 'number'],
    ['Address', ({ members, slots }) => code(members[0]?.address ?? slots[0]?.address ?? NOT_KNOWN)],
    ['Up for', ({ members }) => (members[0] === undefined ? NOT_KNOWN : span(look.atMs - members[0].startedAtMs))],
  ]);
}
