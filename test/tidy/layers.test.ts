// The rooms of src/ and packages/ import one way. Each rule is also shown to refuse an import.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCode } from '../kit/source-tree.ts';
import { findCircles, findLayerViolations, importsOf } from './support/layers.ts';

const files = readCode([
  'src',
  'packages/cli/src',
  'packages/console/src',
  'packages/convert/src',
  'packages/sync/src',
]);

describe('the layers of src/ and packages/', () => {
  it('import one way', () => {
    assert.ok(files.size > 20);
    assert.deepEqual(findLayerViolations(files), []);
  });

  it('make no circles, of types either', () => {
    assert.deepEqual(findCircles(files), []);
    const [[path, text] = ['', '']] = [...files].filter(([name]) => name === 'src/shard/log/entries.ts');
    const back = `${text}\nimport type { Tenure } from './tenure.ts';\n`;
    assert.ok(findCircles(new Map([...files, [path, back]])).length > 0);
  });

  /** By the rule that it breaks: a file, and its text or what it imports. */
  const FORBIDDEN: Readonly<Record<string, readonly (readonly [path: string, text: string])[]>> = {
    'order of the rooms': [
      ['src/shard/x.ts', '../front/create-front.ts'],
      ['src/http/x.ts', '../config/settings.ts'],
      ['src/core/x.ts', '../telemetry/log.ts'],
      ['src/operator/x.ts', '../../packages/console/src/page.ts'],
      ['src/rpc/x.ts', "import type { X } from '../http/server.ts';"],
      ['src/shard/x.ts', "export { X } from '../http/server.ts';"],
      ['src/shard/x.ts', "const x = await import('../http/server.ts');"],
      ['src/shard/x.ts', "import '../http/server.ts';"],
      ['src/shard/x.ts', "import {\n  a,\n  b,\n} from '../http/server.ts';"],
    ],
    'rows of the store stay within the shard': [
      ['src/shard/shard.ts', "import type { SlotRow } from '../store/store.ts';"],
      ['src/operator/x.ts', "import type { AuditLogRow } from '../store/store.ts';"],
    ],
    'core imports nothing': [
      ['src/core/x.ts', 'left-pad'],
      ['src/core/x.ts', "import type { Store } from '../store/store.ts';"],
    ],
    sibling: [
      ['src/discovery/x.ts', './static.ts'],
      ['src/store/cassandra/x.ts', '../sqlite/database.ts'],
    ],
    'only src/roles': [
      ['src/shard/x.ts', '../store/sqlite/sqlite-store.ts'],
      ['src/front/x.ts', '../discovery/static.ts'],
      ['src/main.ts', './http/server.ts'],
      ['src/http/x.ts', '../front/create-front.ts'],
    ],
    'belongs to rpc, roles': [['src/front/x.ts', '@grpc/grpc-js']],
    'belongs to store': [['src/shard/x.ts', 'node:sqlite']],
    'order within src/shard': [
      ['src/shard/memory/x.ts', '../log/appender.ts'],
      ['src/shard/shard.ts', "import type { Tenure } from './log/tenure.ts';"],
    ],
    'order within packages/console/src': [['packages/console/src/pages/x.ts', '../router.ts']],
    'a package sees no more': [
      ['packages/cli/src/x.ts', '../../../src/front/front.ts'],
      ['packages/convert/src/x.ts', '../../../src/config/parsers.ts'],
      ['packages/console/src/x.ts', '../../../src/rpc/calls/table.ts'],
    ],
    'order within packages/cli/src': [['packages/cli/src/output/x.ts', '../commands.ts']],
    'order within src/core': [['src/core/structures/x.ts', '../tuples.ts']],
    'in no room': [
      ['src/shard/x.ts', '../../test/kit/x.ts'],
      ['src/misc/x.ts', '../core/ids.ts'],
    ],
    environment: [
      ['src/http/x.ts', 'const port = process.env.PORT;'],
      ['src/roles/x.ts', 'const [first] = process.argv;'],
      ['src/roles/x.ts', 'const { env } = process;'],
      ['packages/cli/src/x.ts', "import { env } from 'node:process';"],
      ['packages/cli/src/x.ts', "const e = process['env'];"],
    ],
  };
  for (const [rule, cases] of Object.entries(FORBIDDEN)) {
    for (const [path, each] of cases) {
      it(`would not pass with ${each} in ${path}`, () => {
        const text = each.includes(' ') ? each : `import { x } from '${each}';`;
        const found = findLayerViolations(new Map([[path, text]]));
        assert.equal(found.length, 1, found.join('\n'));
        assert.match(found[0] ?? '', new RegExp(rule));
      });
    }
  }

  const ALLOWED: readonly (readonly [string, string, string])[] = [
    ['a role composes', 'src/roles/x.ts', "import { listenHttp } from '../http/server.ts';"],
    [
      'any room uses core and telemetry',
      'src/store/sqlite/x.ts',
      "import { assert } from '../../core/assert.ts';\nimport type { Log } from '../../telemetry/log.ts';",
    ],
    ['an adapter implements its port', 'src/store/sqlite/x.ts', "import type { Store } from '../store.ts';"],
    [
      'a room imports one below it within its room',
      'src/shard/log/x.ts',
      "import { x } from '../memory/load-gate.ts';",
    ],
    ['a higher port as a type', 'src/store/sqlite/x.ts', "import type { Page } from '../../shard/shard.ts';"],
    ['a comment that names a forbidden import', 'src/core/x.ts', "// import { z } from 'zod';\n/* process.env */"],
  ];
  for (const [what, path, text] of ALLOWED) {
    it(`would pass with: ${what}`, () => assert.deepEqual(findLayerViolations(new Map([[path, text]])), []));
  }

  it('are read from every import there is', () => {
    const text =
      "import a from 'a';\nimport type { B } from 'b';\nimport * as c from 'c';\nexport * from 'd';\nimport 'e';\nawait import('f');\n";
    assert.deepEqual(
      importsOf(text)
        .map(({ specifier }) => specifier)
        .sort(),
      ['a', 'b', 'c', 'd', 'e', 'f'],
    );
  });
});
