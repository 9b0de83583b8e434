// Timestamps and durations as text, and time zones, compared with the calendar of the engine.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  dayOfYear,
  durationText,
  lacksZone,
  localTime,
  parseDuration,
  parseRfc3339,
  timestampText,
  ZoneOffsets,
} from '../../../../src/rules/conditions/times.ts';
import { Duration, Timestamp } from '../../../../src/rules/conditions/values.ts';

const nanosOf = (text: string): bigint | undefined => parseRfc3339(text)?.nanos;

describe('a timestamp', () => {
  const anyNanos = fc.bigInt(-62_135_596_800_000_000_000n, 253_402_300_799_999_999_999n);

  it('is what the calendar of the engine says, in every offset', () => {
    fc.assert(
      fc.property(anyNanos, fc.integer({ min: -1439, max: 1439 }), (nanos, minutes) => {
        const sign = minutes < 0 ? '-' : '+';
        const size = Math.abs(minutes);
        const zone = `${sign}${String(Math.floor(size / 60)).padStart(2, '0')}:${String(size % 60).padStart(2, '0')}`;
        const zoned = Temporal.Instant.fromEpochNanoseconds(nanos).toZonedDateTimeISO(zone);
        fc.pre(zoned.year >= 1 && zoned.year <= 9999);
        assert.equal(nanosOf(`${zoned.toPlainDateTime()}${zone}`), nanos);
      }),
    );
  });

  it('is written as it is read', () => {
    fc.assert(fc.property(anyNanos, (nanos) => assert.equal(nanosOf(timestampText(new Timestamp(nanos))), nanos)));
  });

  it('is a day of the calendar, in the years 1 to 9999, with a zone', () => {
    for (const text of ['2024-02-29', '2000-02-29', '0001-01-01', '9999-12-31', '2026-04-30'])
      assert.ok(nanosOf(`${text}T00:00:00Z`));
    for (const text of [
      '2026-02-29',
      '1900-02-29',
      '2026-04-31',
      '2026-13-01',
      '2026-00-01',
      '2026-01-00',
      '0000-01-01',
    ]) {
      assert.equal(nanosOf(`${text}T00:00:00Z`), undefined, text);
    }
    for (const text of [
      '2026-01-01T24:00:00Z',
      '2026-01-01T00:00:60Z',
      '2026-01-01T00:00Z',
      '2026-01-01T00:00:00.Z',
      '0001-01-01T00:00:00+00:01',
      '9999-12-31T23:59:59-00:01',
      '2026-01-01 00:00:00Z',
      '2026-01-01T00:00:00.1234567890Z',
      '2026-01-01T00:00:00+24:00',
    ]) {
      assert.equal(nanosOf(text), undefined, text);
    }
    assert.ok(lacksZone('2026-01-01T00:00:00.5'));
    assert.ok(!lacksZone('2026-01-01T00:00:00Z'));
  });
});

describe('a duration', () => {
  const CASES: readonly (readonly [text: string, nanos: bigint])[] = [
    ['0', 0n],
    ['-0', 0n],
    ['1h30m', 5_400_000_000_000n],
    ['-1.5h', -5_400_000_000_000n],
    ['.5s', 500_000_000n],
    ['1.s', 1_000_000_000n],
    ['1ns1us1µs1ms', 1_002_001n],
    ['9223372036.854775807s', 9_223_372_036_854_775_807n],
  ];
  for (const [text, nanos] of CASES) it(`may be ${text}`, () => assert.equal(parseDuration(text)?.nanos, nanos));

  for (const text of ['', '1', 's', '1d', '1h 30m', '1e3s', '--1s', '9223372036.854775808s', `${'1s'.repeat(40)}`]) {
    it(`is not ${JSON.stringify(text)}`, () => assert.equal(parseDuration(text), undefined));
  }

  it('is written as it is read', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (nanos) => {
        assert.equal(parseDuration(durationText(new Duration(nanos)))?.nanos, nanos);
      }),
    );
  });
});

describe('a time zone', () => {
  it('has the offset that the database says, in any order of questions', () => {
    const zones = new ZoneOffsets();
    const zone = fc.constantFrom(
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
      'UTC',
      'Africa/Monrovia',
    );
    const nanos = fc.bigInt(-3_000_000_000_000_000_000n, 3_000_000_000_000_000_000n);
    fc.assert(
      fc.property(zone, nanos, (name, at) => {
        const expected = new Temporal.ZonedDateTime(at, name);
        const offset = zones.offsetAt(name, new Timestamp(at));
        assert.equal(offset, BigInt(expected.offsetNanoseconds));
        const local = localTime(new Timestamp(at), offset ?? 0n);
        assert.deepEqual(
          [
            local.getUTCFullYear(),
            local.getUTCMonth() + 1,
            local.getUTCDate(),
            local.getUTCHours(),
            dayOfYear(local) + 1,
          ],
          [expected.year, expected.month, expected.day, expected.hour, expected.dayOfYear],
        );
      }),
      { numRuns: 1000 },
    );
  });

  it('changes its offset at a transition', () => {
    const zones = new ZoneOffsets();
    const offsets = ['00:59:59Z', '01:00:00Z', '00:59:59Z'].map((time) => {
      const moment = parseRfc3339(`2026-03-29T${time}`);
      return moment && zones.offsetAt('Europe/Berlin', moment);
    });
    assert.deepEqual(
      offsets,
      [3600n, 7200n, 3600n].map((seconds) => seconds * 1_000_000_000n),
    );
  });

  it('is a name or an offset, and nothing else', () => {
    const zones = new ZoneOffsets();
    const now = new Timestamp(0n);
    for (const zone of ['+02:30', '-02:30', '02:30', 'Etc/GMT+5', 'utc'])
      assert.notEqual(zones.offsetAt(zone, now), undefined, zone);
    for (const zone of ['', 'Z', 'Nope', '+2:30', '+02', 'Europe/Berlin ', `A${'a'.repeat(100)}`])
      assert.equal(zones.offsetAt(zone, now), undefined, zone);
  });
});
