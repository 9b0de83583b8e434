// Whatever one client does, another tenant is served: attacks of the benchmark `isolation` for a short time, against
// one process with a small heap, as tests. Judged by counts, by memory, and by a bound of time.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Attack } from '../../../bench/isolation/attack-list.ts';
import { VictimProgram } from '../../../bench/isolation/child-programs.ts';
import { type Durations, measureAttack } from '../../../bench/isolation/measure-attack.ts';
import { EmbeddedService } from '../../../bench/isolation/service.ts';
import { describeMisses, describeOutcomes } from '../../../bench/isolation/verdict.ts';
import { judgeTimes } from '../../kit/strain.ts';

const CONTAINER = { memoryMib: 512, heapMib: 256 };
const SETTINGS = { GRANTD_PAGE_CACHE_BYTES: '64MiB' };
/**
 * A p99 of so few requests is the second longest of them: the bound is for a service that stalls, not for one that is
 * slow beside an attacker that takes as much processor time as it can get. New connections wait in the system's queue
 * behind those that an attacker opens at once.
 */
const BOUNDS = { p99FloorMs: () => 500, mayLastAsFlood: true, hasControl: false };

/** `largeSubjects`: of 10 MB each. */
export function describeIsolation(
  name: string,
  durations: Omit<Durations, keyof typeof BOUNDS>,
  largeSubjects: number,
  attacks: readonly Attack[],
): void {
  describe(name, () => {
    const directory = mkdtempSync(join(tmpdir(), 'grantd-isolation-'));
    let victim: VictimProgram | undefined;
    let service: EmbeddedService | undefined;
    before(async () => {
      victim = await VictimProgram.start();
      service = await EmbeddedService.fill({
        directory,
        searchPath: process.env.PATH ?? '',
        container: CONTAINER,
        largeSubjects,
        settings: SETTINGS,
      });
    });
    after(async () => {
      victim?.close();
      await service?.stop();
      rmSync(directory, { recursive: true });
    });

    for (const attack of attacks) {
      it(attack.summary, async (context) => {
        assert.ok(service !== undefined && victim !== undefined);
        const measurement = await measureAttack(service, victim, attack, { ...durations, ...BOUNDS });
        context.diagnostic(describeOutcomes(measurement));
        assert.deepEqual(describeMisses(measurement, 'all but times'), []);
        judgeTimes(measurement.strain, () => assert.deepEqual(describeMisses(measurement, 'times'), []));
      });
    }
  });
}
