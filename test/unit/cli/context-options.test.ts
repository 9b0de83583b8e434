// The values that a check brings along on the command line are read as strictly as the body of a request.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonObject } from '../../../packages/cli/src/context-options.ts';
import { useDirectory } from '../../kit/directory.ts';

test('a file of values is refused if it is not UTF-8, has a byte order mark or gives a member twice', () => {
  const directory = useDirectory();
  try {
    const file = join(directory, 'values.json');
    const read = (bytes: string | Buffer): unknown => {
      writeFileSync(file, bytes);
      return jsonObject(`@${file}`);
    };
    assert.deepEqual(read('{"name": "ÿ"}'), { name: 'ÿ' });
    assert.throws(() => read(Buffer.from('{"name": "ÿ"}', 'latin1')), /it is not valid UTF-8/);
    assert.throws(() => read('\u{feff}{}'), /unexpected character at line 1, column 1/);
    assert.throws(() => read('{"name": "a", "name": "b"}'), /gives "name" twice/);
  } finally {
  }
});
