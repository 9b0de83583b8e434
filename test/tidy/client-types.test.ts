// The generated parts of the clients in Go, Java and Python are those of their sources.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { clientOpenapiText } from '../../scripts/client-types.ts';
import { renderGoTypes } from '../../scripts/clients/go-types.ts';
import { JAVA_TYPES_FOLDER, renderJavaTypes } from '../../scripts/clients/java-types.ts';
import { renderSyncPythonClient } from '../../scripts/clients/python-sync.ts';
import { renderPythonTypes } from '../../scripts/clients/python-types.ts';
import { listFiles, readText } from '../kit/source-tree.ts';

const FRESHEN = 'run `npm run generate -- types`';
const openapi = clientOpenapiText();

it('the types of the Go client are generated from the present description of the API', () => {
  assert.equal(readText('clients/go/types.go'), renderGoTypes(openapi), FRESHEN);
});

it('the types of the Java client are generated from the present description of the API, and are no others', () => {
  const rendered = renderJavaTypes(openapi);
  const generated = listFiles()
    .filter((path) => path.startsWith(`${JAVA_TYPES_FOLDER}/`) && path.endsWith('.java'))
    .map((path): [string, string] => [path.slice(JAVA_TYPES_FOLDER.length + 1), readText(path)])
    .filter(([, text]) => text.startsWith('// Generated'));
  assert.deepEqual(new Map(generated), new Map(rendered), FRESHEN);
});

it('the types of the Python client are generated from the present description of the API', () => {
  assert.equal(readText('clients/python/src/grantd/_types.py'), renderPythonTypes(openapi), FRESHEN);
});

it('the Python client without an event loop is generated from the one for asyncio', () => {
  const source = readText('clients/python/src/grantd/_async_client.py');
  assert.equal(readText('clients/python/src/grantd/_client.py'), renderSyncPythonClient(source), FRESHEN);
});

it('a schema that the types cannot express is refused, never guessed', () => {
  for (const schema of [
    { oneOf: [] },
    { type: ['string', 'integer'] },
    { anyOf: [{ type: 'string' }] },
    { type: 'array' },
  ]) {
    const changed = JSON.parse(openapi);
    changed.components.schemas.CheckResult.properties.authorized = schema;
    for (const render of [renderGoTypes, renderJavaTypes, renderPythonTypes])
      assert.throws(() => render(JSON.stringify(changed)));
  }
});
