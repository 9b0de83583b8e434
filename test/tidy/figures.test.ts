// Figures that stand in more than one place: each page says what its source says, to the digits that it shows. The
// source is the page that tells how a figure was measured, or the code. A figure that is looked for and not found
// fails, too: whoever rewords a page moves its pattern here.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { BUILT_IN_PLANS, REVOCATION_RESERVE } from '../../src/core/plans.ts';
import { readText } from '../kit/source-tree.ts';

/** Every group of the pattern is a figure. A space stands for any white space, since pages wrap their lines. */
type Place = readonly [path: string, pattern: RegExp];

const BENCHMARKS = 'docs/benchmarks.md';
const COMPARE = 'docs/compare.md';
const SCALING = 'docs/operating/scaling.md';
const CAPACITY = 'docs/operating/capacity.md';
const RULES_PAGE = 'docs/guides/changing-rules.md';
const EXAMPLES = 'docs/guides/modelling-examples.md';
const RULE_SET = 'src/rules/rule-set.ts';

/** The source first. */
const FIGURES: Readonly<Record<string, readonly Place[]>> = {
  'processor time of a check': [
    [BENCHMARKS, /CPU per check, service ÷ echo \((\S+) ÷/],
    [SCALING, /\| processor time of a check, front and shard together +\| (\S+) µs/],
  ],
  'checks a second': [
    [BENCHMARKS, /\| checks per second, saturated, all on two cores .*\| +(\S+) \/ s/],
    [SCALING, /\| checks a second +\| (\S+) +\|/],
  ],
  'processor time of a check in a bulk': [
    [BENCHMARKS, /\| CPU per check of a bulk .*\| +(\S+) µs/],
    [SCALING, /\| processor time of a check within a bulk of 100 +\| (\S+) µs/],
  ],
  'memory of a cached grant': [
    [BENCHMARKS, /\| resident memory per cached grant .*\| +(\S+) bytes/],
    [SCALING, /\| memory of a cached grant +\| (\S+) bytes/],
    [CAPACITY, /\| bytes of a grant in a shard's cache, .*\| +\S+ and (\S+) \|/],
    ['docs/operating/monitoring.md', /A cached grant takes \[(\S+) bytes\]/],
  ],
  'durable grants of 64 writers': [
    [BENCHMARKS, /\| the same, 64 writers +\| (\S+) to (\S+):/],
    [SCALING, /\| durable grants a second, one tenant, 64 writers +\| (\S+) to (\S+) +\|/],
    [CAPACITY, /on a quieter day\]\([^)]*\) (\S+) to (\S+)\)/],
  ],
  'rows of write-behind': [
    [BENCHMARKS, /\| rows a second that write-behind sustains beside it +\| (\S+) to (\S+) +\|/],
    [SCALING, /\| rows a second that write-behind sustains beside it +\| (\S+) to (\S+) +\|/],
  ],
  'grants in an append': [
    [BENCHMARKS, /\| grants in one append, 64 writers +\| (\S+) to (\S+) +\|/],
    [SCALING, /\((\S+) to (\S+) grants in each, at 64 writers\)/],
  ],
  'a larger cluster': [
    [BENCHMARKS, /CPU per check, 4 shards \+ 2 fronts ÷ 1 \+ 1, .*\| +(\S+) × \| ≤/],
    [CAPACITY, /four shards and two fronts took (\S+) times the/],
  ],
  'single check, beside the peers': [
    [
      COMPARE,
      /CPU per single check, warm caches \(`wide`\) +\| (\S+) µs \| \S+ µs by HTTP, (\S+) µs by gRPC \| (\S+) µs/,
    ],
    ['README.md', /\| CPU of a single check +\| +(\S+) µs \| +(\S+) µs \| +(\S+) µs/],
  ],
  'check never asked before, beside the peers': [
    [COMPARE, /CPU per check that was never asked \(`new`\) +\| +(\S+) µs \| +(\S+) µs \| +(\S+) µs/],
    ['README.md', /\| CPU of a check never asked before +\| +(\S+) µs \| +(\S+) µs \| +(\S+) µs/],
  ],
  'check in batches, beside the peers': [
    [COMPARE, /CPU per check in batches \(`batch`\) +\| +(\S+) µs \| +(\S+) µs \| +(\S+) µs/],
    ['README.md', /\| CPU of a check in batches +\| +(\S+) µs \| +(\S+) µs \| +(\S+) µs/],
  ],
  'listing, beside the peers': [
    [COMPARE, /CPU of listing 1,000 objects \(`list`\) +\| +(\S+) µs \| +(\S+) µs \| +(\S+) µs/],
    ['README.md', /\| CPU of listing 1,000 objects +\| +(\S+) µs \| +(\S+) µs \| +(\S+) µs/],
  ],
  'writes, beside the peers': [
    [COMPARE, /durable writes a second \(`write`\) +\| +(\S+) \| +(\S+) \| +(\S+) \|/],
    ['README.md', /\| durable writes a second +\| +(\S+) \| +(\S+) \| +(\S+) \|/],
  ],
  'p99 at the same load, beside the peers': [
    [
      COMPARE,
      /\| 2,000 [\s\S]*?\| +p99 +\| +(\S+) \| +\S+ \| +\S+ \| +\S+ \| +(\S+) \| +\S+ \| +(\S+) \|[\s\S]*?\| 5,000 [\s\S]*?\| +p99 +\| +(\S+) \| +\S+ \| +\S+ \| +\S+ \| +(\S+) \| +\| +(\S+) \|/,
    ],
    [
      'README.md',
      /p99 at 2,000 checks a second +\| (\S+) ms \| +(\S+) ms \| +(\S+) ms \| \| p99 at 5,000 checks a second +\| (\S+) ms \| +(\S+) ms \| +(\S+) ms/,
    ],
  ],
  'share of checks to answer within the time, at equal loads': [
    ['bench/compare/load/arrivals/result.go', /onTimeMin = 0\.(\S+)/],
    [COMPARE, /if at least (\S+) % of the checks that were due were answered right/],
  ],
  'growth of the backlog, at equal loads': [
    ['bench/compare/load/arrivals/result.go', /growthMax = (\S+) \* time\.Millisecond/],
    [COMPARE, /did not grow by more checks than are due in (\S+) ms/],
  ],
  'share of a processor that the load may take, at equal loads': [
    ['bench/compare/verdict.ts', /LOAD_SHARE_MAX = (\S+);/],
    [COMPARE, /or in which the load took more than (\S+) of a processor/],
  ],
  'rates of equal loads': [
    ['bench/compare/main.ts', /RATES = \[(\S+), (\S+), (\S+), (\S+)\];/],
    [COMPARE, /with (\S+), (\S+), (\S+) and (\S+) checks a second, how long/],
  ],
  'pause after a crash, in seconds': [
    ['docs/operating/cluster.md', /and take its slots, about (\S+) seconds after it died/],
    ['docs/operating/recovery.md', /About (\S+) seconds after a shard died, the other shards have taken/],
    [CAPACITY, /Its slots go to the others, evenly, about (\S+) seconds later/],
    [SCALING, /others take over as after a crash, about (\S+) seconds later/],
    ['README.md', /if its shard is killed, its requests wait about (\S+) seconds/],
  ],
  'rules of a tenant': [
    [RULE_SET, /RULES_MAX = (\S+);/],
    [RULES_PAGE, /\| rules of a tenant +\| (\S+) +\|/],
    [EXAMPLES, /hold for the whole tenant, and are (\S+) at most/],
  ],
  'elements of a rule': [
    [RULE_SET, /ELEMENTS_MAX = (\S+);/],
    [RULES_PAGE, /\| elements in `any_of` +\| (\S+) +\|/],
  ],
  'public namespaces': [
    [RULE_SET, /PUBLIC_NAMESPACES_MAX = (\S+);/],
    [RULES_PAGE, /\| namespaces in `public` +\| (\S+) +\|/],
  ],
  'size of a rule set, in KiB': [
    [RULE_SET, /RULE_SET_BYTES_MAX = (\S+) \* 1024;/],
    [RULES_PAGE, /\| size of a rule set, .*\| (\S+) KiB +\|/],
  ],
  'depth of a chain': [
    ['src/shard/evaluation/evaluate-checks.ts', /CHECK_LIMITS: SearchLimits = \{ depthMax: (\S+), /],
    ['src/shard/evaluation/evaluate-listings.ts', /LISTING_LIMITS: SearchLimits = \{ depthMax: (\S+), /],
    [RULES_PAGE, /\| groups and parents between .*\| (\S+) +\|/],
    ['README.md', /chains of at most (\S+) groups and parents/],
    ['ARCHITECTURE.md', /Chains of (\S+) groups and parents/],
  ],
  'bounds of a check under rules': [
    ['src/shard/evaluation/evaluate-checks.ts', /entitiesMax: (\S+), grantsMax: (\S+), /],
    [
      RULES_PAGE,
      /objects and groups that a check may visit +\| (\S+), from each side +\| \| grants that a check may look at +\| (\S+), from/,
    ],
    ['ARCHITECTURE.md', /groups and parents, (\S+) objects and groups and (\S+) grants for each search/],
  ],
  'bounds of a listing under rules': [
    ['src/shard/evaluation/evaluate-listings.ts', /entitiesMax: (\S+), grantsMax: (\S+), /],
    [
      RULES_PAGE,
      /that a listing may visit +\| (\S+) for each page +\| \| grants that a listing may look at +\| (\S+) for/,
    ],
  ],
  'grants of one entity that a check goes through': [
    ['src/shard/evaluation/evaluate-checks.ts', /entityGrantsMax: (\S+), /],
    [RULES_PAGE, /grants of one subject that a check goes through +\| (\S+), /],
    [RULES_PAGE, /groups with a grant on one object that a check goes through +\| (\S+) /],
  ],
  'grants on one object among which a check finds groups': [
    ['src/shard/evaluation/page-graph.ts', /GROUP_ROWS_MAX = (\S+);/],
    [RULES_PAGE, /grants on one object among which they are found +\| (\S+) /],
  ],
  'grants of one entity that a listing goes through': [
    ['src/shard/evaluation/evaluate-listings.ts', /entityGrantsMax: (\S+), /],
    [RULES_PAGE, /grants of one subject, or on one object, that a listing follows +\| (\S+) /],
    [RULES_PAGE, /of a group of more than (\S+), or/],
  ],
};

const spaced = (pattern: RegExp): RegExp => new RegExp(pattern.source.replaceAll(/ \+?/g, '\\s+'));
const plain = (figure: string): string => figure.replaceAll(/[,_]/g, '');
const readFigures = ([path, pattern]: Place): string[] => {
  const found = spaced(pattern).exec(readText(path));
  assert.ok(found !== null, `${path} has nothing like ${pattern}`);
  return found.slice(1).map(plain);
};
/** To as many decimals as `shown` has. */
const roundedLike = (shown: string, figure: string): string =>
  Number(figure).toFixed(/\.(\d+)$/.exec(shown)?.[1]?.length ?? 0);

describe('a figure that stands in several places is the same:', () => {
  for (const [what, [source, ...others]] of Object.entries(FIGURES)) {
    it(what, () => {
      assert.ok(source !== undefined && others.length > 0);
      const figures = readFigures(source);
      for (const figure of figures) assert.ok(Number.isFinite(Number(figure)), `${source[0]}: ${figure} is no number`);
      for (const place of others) {
        const shown = readFigures(place);
        const expected = figures.map((figure, index) => roundedLike(shown[index] ?? '', figure));
        assert.deepEqual(shown, expected, `${place[0]} differs from ${source[0]}`);
      }
    });
  }

  it('a bulk check costs what share of a single one, as the benchmarks have both', () => {
    const [single = ''] = readFigures(FIGURES['processor time of a check']?.[0] ?? assert.fail());
    const [bulk = ''] = readFigures(FIGURES['processor time of a check in a bulk']?.[0] ?? assert.fail());
    assert.equal(Math.round(Number(single) / Number(bulk)), 10);
    assert.match(readText(SCALING), /\*\*Bulk checks\*\* cost a tenth of single ones/);
  });
});

describe('a figure of the code is the same in the docs:', () => {
  const page = readText('docs/operating/rate-limits.md').replaceAll(/\s+/g, ' ');
  const capacity = readText(CAPACITY).replaceAll(/\s+/g, ' ');
  const thousands = (count: number): string => count.toLocaleString('en-US');

  it('the plans', () => {
    for (const { name, requests, windowSeconds, grantsMax } of BUILT_IN_PLANS.values()) {
      if (requests !== undefined) {
        // Of the first one the page says what the others leave out.
        const limit = `${thousands(requests)}(?: in)? (?:in )?${windowSeconds} second`;
        assert.match(page, new RegExp(`\`${name}\` ${limit}`));
      }
      assert.ok(capacity.includes(`\`${name}\` ${grantsMax === undefined ? 'none' : thousands(grantsMax)}`), name);
    }
  });

  it('the reserve for revoking keys', () => {
    const { requests, windowSeconds } = REVOCATION_RESERVE;
    assert.ok(page.includes(`uses a reserve of the calling key, ${requests} in ${windowSeconds} seconds`));
  });

  it('the autoscalers of the chart', () => {
    const { front, shard } = parse(readText('charts/grantd/values.yaml'));
    const [fronts, shards] = [front.autoscaling, shard.autoscaling];
    const scaling = readText(SCALING);
    assert.match(
      scaling,
      new RegExp(`\\| target +\\| ${fronts.cpuUtilizationPercent} % .*\\| ${shards.cpuUtilizationPercent} % `),
    );
    assert.match(
      scaling,
      new RegExp(
        `\\| from, to +\\| ${fronts.replicasMin}, ${fronts.replicasMax} +\\| ${shards.replicasMin}, ${shards.replicasMax} +\\|`,
      ),
    );
  });
});
