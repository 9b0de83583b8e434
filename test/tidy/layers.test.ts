// The rooms of src/ import one way. Every rule is also shown to bite: a tree with one forbidden import fails.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCode } from '../kit/source-tree.ts';
import { findCircles, findLayerViolations, importsOf } from './support/layers.ts';

const files = readCode(['src']);
const written = new Map([...files].filter(([path]) => !path.startsWith('src/rpc/gen/')));

describe('the layers of src/', () => {
  it('import one way', () => {
    assert.ok(files.size > 20);
    assert.deepEqual(findLayerViolations(files), []);
  });

  it('make no circles, of types either', () => {
    assert.deepEqual(findCircles(written), []);
    const [[path, text] = ['', '']] = [...written].filter(([name]) => name === 'src/shard/log/entries.ts');
    const back = `${text}\nimport type { Tenure } from './tenure.ts';\n`;
    assert.ok(findCircles(new Map([...written, [path, back]])).length > 0);
  });

  const MUTATIONS: readonly (readonly [string, string, string, RegExp])[] = [
    [
      'a lower room imports a higher one',
      'src/shard/x.ts',
      "import { createFront } from '../front/create-front.ts';",
      /order of the rooms/,
    ],
    [
      'the store knows the shard',
      'src/store/sqlite/x.ts',
      "import { ShardFailure } from '../../shard/shard.ts';",
      /order of the rooms/,
    ],
    [
      'http reads the configuration',
      'src/http/x.ts',
      "import { SETTINGS } from '../config/settings.ts';",
      /order of the rooms/,
    ],
    [
      'a type of a higher room that is no port',
      'src/rpc/x.ts',
      "import type { X } from '../http/server.ts';",
      /order of the rooms/,
    ],
    [
      'a row of the store in the port of a shard',
      'src/shard/shard.ts',
      "import type { SlotRow } from '../store/store.ts';",
      /rows of the store stay within the shard/,
    ],
    [
      'a row of the store in the console',
      'src/operator/x.ts',
      "import type { AuditLogRow } from '../store/store.ts';",
      /rows of the store stay within the shard/,
    ],
    ['core uses a library', 'src/core/x.ts', "import { z } from 'zod';", /zod/],
    ['core uses an unlisted library', 'src/core/x.ts', "import x from 'left-pad';", /core imports nothing/],
    ['core uses telemetry', 'src/core/x.ts', "import { createLog } from '../telemetry/log.ts';", /order of the rooms/],
    [
      'core uses a type of a port',
      'src/core/x.ts',
      "import type { Store } from '../store/store.ts';",
      /core imports nothing/,
    ],
    [
      'an adapter knows its sibling',
      'src/discovery/x.ts',
      "import { createStaticDiscovery } from './static.ts';",
      /sibling/,
    ],
    [
      'a store knows another store',
      'src/store/cassandra/x.ts',
      "import { x } from '../sqlite/database.ts';",
      /sibling/,
    ],
    [
      'a shard picks its store',
      'src/shard/x.ts',
      "import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';",
      /only src\/roles/,
    ],
    [
      'a front picks its discovery',
      'src/front/x.ts',
      "import { createStaticDiscovery } from '../discovery/static.ts';",
      /only src\/roles/,
    ],
    ['main composes', 'src/main.ts', "import { listenHttp } from './http/server.ts';", /only src\/roles/],
    [
      'http makes its front',
      'src/http/x.ts',
      "import { createFront } from '../front/create-front.ts';",
      /only src\/roles/,
    ],
    ['gRPC outside rpc', 'src/front/x.ts', "import { Client } from '@grpc/grpc-js';", /belongs to rpc, roles/],
    ['express outside http', 'src/front/x.ts', "import express from 'express';", /belongs to http, operator/],
    ['SQLite outside the store', 'src/shard/x.ts', "import { DatabaseSync } from 'node:sqlite';", /belongs to store/],
    [
      'the memory of a shard knows its log',
      'src/shard/memory/x.ts',
      "import { Appender } from '../log/appender.ts';",
      /order within src\/shard/,
    ],
    [
      'the log of a shard knows who asks',
      'src/shard/log/idempotency/x.ts',
      "import type { Connection } from '../../peers/connection.ts';",
      /order within src\/shard/,
    ],
    [
      'the port of a shard knows its parts',
      'src/shard/shard.ts',
      "import type { Tenure } from './log/tenure.ts';",
      /order within src\/shard/,
    ],
    [
      'a page of the console routes',
      'src/operator/console/pages/x.ts',
      "import { x } from '../router.ts';",
      /order within src\/operator\/console/,
    ],
    [
      'a structure knows the domain',
      'src/core/structures/x.ts',
      "import { x } from '../tuples.ts';",
      /order within src\/core/,
    ],
    ['a re-export', 'src/shard/x.ts', "export { X } from '../http/server.ts';", /order of the rooms/],
    ['a dynamic import', 'src/shard/x.ts', "const x = await import('../http/server.ts');", /order of the rooms/],
    ['an import for its effects', 'src/shard/x.ts', "import '../http/server.ts';", /order of the rooms/],
    [
      'an import over several lines',
      'src/shard/x.ts',
      "import {\n  a,\n  b,\n} from '../http/server.ts';",
      /order of the rooms/,
    ],
    ['a way out of src/', 'src/shard/x.ts', "import { x } from '../../test/kit/x.ts';", /no room/],
    ['a file in no room', 'src/misc/x.ts', "import { x } from '../core/ids.ts';", /in no room/],
    ['the environment read', 'src/http/x.ts', 'const port = process.env.PORT;', /environment/],
    ['the arguments read', 'src/roles/x.ts', 'const [first] = process.argv;', /environment/],
    ['the environment taken apart', 'src/roles/x.ts', 'const { env } = process;', /environment/],
    ['the environment imported', 'src/cli/x.ts', "import { env } from 'node:process';", /environment/],
    ['the environment by index', 'src/cli/x.ts', "const e = process['env'];", /environment/],
  ];
  for (const [what, path, text, message] of MUTATIONS) {
    it(`would not pass with: ${what}`, () => {
      const found = findLayerViolations(new Map([[path, text]]));
      assert.equal(found.length, 1, found.join('\n'));
      assert.match(found[0] ?? '', message);
    });
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
