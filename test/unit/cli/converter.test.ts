// The converter is a package that only commands that convert load, and that may be missing.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadConverter } from '../../../packages/cli/src/converter.ts';
import { readCode } from '../../kit/source-tree.ts';

/** The last is a module of ours that imports a package. */
const RARELY_NEEDED = ['@grantd/convert', '@peculiar/x509', '\\./x509\\.ts'];

describe('the converter', () => {
  it('is reported where it is not installed', async () => {
    const name = '@grantd/not-installed';
    await assert.rejects(
      loadConverter(() => import(name)),
      /^CliFailure: The converter of files of OpenFGA, SpiceDB and Permify is not installed\. .* run "npm ci"\.$/,
    );
    const failure = new Error('other');
    await assert.rejects(
      loadConverter(() => Promise.reject(failure)),
      failure,
    );
  });

  it('is loaded at need, like the library for certificates', () => {
    const statically = new RegExp(`^(?:import|export) (?!type )[^;]*?'(?:${RARELY_NEEDED.join('|')})`, 'm');
    assert.match("import { a, type B } from '@grantd/convert/rules';", statically);
    const loading = [...readCode(['src', 'packages/cli'])].filter(([, text]) => statically.test(text));
    assert.deepEqual(
      loading.map(([path]) => path),
      ['packages/cli/src/secrets/x509.ts'],
    );
  });
});
