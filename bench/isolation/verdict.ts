// The effects of an attack, as figures with their targets, and in words.

import { type Figure, isReached } from '../figure.ts';
import type { Attack } from './attack-list.ts';
import type { AttackMeasurement } from './measure-attack.ts';
import type { ServiceUnderAttack } from './service.ts';

const MEBIBYTE = 1024 ** 2;
/** The only figure of time with a target. */
const P99 = 'p99 during';

export function figuresOf(measurement: AttackMeasurement): readonly Figure[] {
  const { attack, mode, idle, during, ending, control, strain, p99MsMax, parts, probes, report, lostLeases } =
    measurement;
  const row = `${mode}: ${attack.name}`;
  const atMost = (value: number): NonNullable<Figure['target']> => ({ kind: 'at most', value });
  return [
    { row, name: 'p50 idle', value: idle.latencyMs.p50, unit: 'ms' },
    { row, name: 'p99 idle', value: idle.latencyMs.p99, unit: 'ms' },
    { row, name: 'p50 during', value: during.latencyMs.p50, unit: 'ms' },
    { row, name: P99, value: during.latencyMs.p99, unit: 'ms', target: atMost(p99MsMax) },
    { row, name: 'p99 at its end', value: ending.latencyMs.p99, unit: 'ms' },
    { row, name: 'echo p99', value: during.echoP99Ms, unit: 'ms' },
    ...(control === undefined ? [] : [{ row, name: 'control p99', value: control.latencyMs.p99, unit: 'ms' }]),
    { row, name: 'strain', value: strain, unit: '×' },
    { row, name: 'failed', value: during.failed + ending.failed + probes.failed, unit: '', target: atMost(0) },
    { row, name: 'wrong to attacker', value: report.unexpected, unit: '', target: atMost(0) },
    { row, name: 'ended', value: parts.filter(({ hasEnded }) => hasEnded).length, unit: '', target: atMost(0) },
    ...parts.flatMap((part, index): readonly Figure[] => {
      const which = index === 0 ? '' : `, ${part.name}`;
      const resident = { row, name: `resident${which}`, value: part.residentBeforeBytes / MEBIBYTE, unit: 'MiB' };
      const target = atMost(part.memoryBytesMax / MEBIBYTE);
      return [resident, { row, name: `peak${which}`, value: part.peakBytes / MEBIBYTE, unit: 'MiB', target }];
    }),
    ...(mode === 'cluster'
      ? [{ row, name: 'leases lost', value: lostLeases ?? Number.NaN, unit: '', target: atMost(0) }]
      : []),
  ];
}

/** If the service cannot even be started for it, or the attack itself fails. */
export const notMeasured = (mode: ServiceUnderAttack['mode'], { name }: Attack): Figure => ({
  row: `${mode}: ${name}`,
  name: 'not measured',
  value: 1,
  unit: '',
  target: { kind: 'at most', value: 0 },
});

/** What the attacker saw, so that an ineffective attack is noticed, and what the service needed. */
export function describeOutcomes({ report, parts, during, ending, control, strain }: AttackMeasurement): string {
  const seen = Object.entries(report.outcomes).map(([outcome, count]) => `${count} × ${outcome}`);
  const peaks = parts.map(({ name, peakBytes }) => `${name} peak ${Math.round(peakBytes / MEBIBYTE)} MiB`);
  const flood = report.floodMs === undefined ? '' : `flood of ${Math.round(report.floodMs)} ms, `;
  const controlled = control === undefined ? '' : `, control ${Math.round(control.latencyMs.p99)} ms`;
  const p99 = `${flood}victim p99 ${Math.round(during.latencyMs.p99)} ms, at its end ${Math.round(ending.latencyMs.p99)} ms, echo ${Math.round(during.echoP99Ms)} ms${controlled}, strain ${strain.toFixed(1)}`;
  return [...seen, ...peaks, p99].join(', ');
}

/** What was missed, in words; empty: nothing. `of`: which targets are judged. */
export function describeMisses(
  measurement: AttackMeasurement,
  of: 'all' | 'times' | 'all but times' = 'all',
): readonly string[] {
  const { during, ending, probes, report } = measurement;
  const figures = figuresOf(measurement)
    .filter(({ name }) => of === 'all' || (of === 'times') === (name === P99))
    .filter((figure) => isReached(figure) === false)
    .map(
      ({ name, value, unit, target }) => `${name}: ${value.toFixed(1)} ${unit}, at most ${target?.value.toFixed(1)}`,
    );
  const firsts = [during.firstFailure, ending.firstFailure, probes.firstFailure, report.firstUnexpected].filter(
    (text) => text !== undefined,
  );
  return figures.length === 0 ? [] : [...figures, ...firsts];
}
