// One minute of a tenant's usage in replies, both ways.

import { MS_PER_MINUTE } from '../../../core/text/timestamps.ts';
import type { UsageMinute } from '../../../shard/shard.ts';
import type { UsageMinute__Output, UsageMinute as WireMinute } from '../../gen/grantd/v1/UsageMinute.ts';

export const minuteToWire = ({ atMs, plan, ...counts }: UsageMinute): WireMinute => ({
  minute: atMs / MS_PER_MINUTE,
  ...counts,
  ...(plan === undefined ? {} : { plan }),
});

export const minuteFrom = ({ minute, plan, ...counts }: UsageMinute__Output): UsageMinute => ({
  atMs: minute * MS_PER_MINUTE,
  ...counts,
  ...(plan === '' ? {} : { plan }),
});
