// Which service a command calls: the first place that names one decides alone.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ContextFile } from '../../../packages/cli/src/context-file.ts';
import { CliFailure } from '../../../packages/cli/src/failures.ts';
import { operatorTarget, type ServiceChoice, tenantTarget } from '../../../packages/cli/src/service-choice.ts';
import { createApiKey } from '../../../src/core/api-keys.ts';
import { IdFactory } from '../../../src/core/ids.ts';
import { writeDevFile } from '../../../src/roles/dev/dev-file.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { chooseService } from '../../../src/roles/service-choice.ts';
import { useDirectory } from '../../kit/directory.ts';

const directory = useDirectory();

const ids = new IdFactory(systemClock, systemRandom);
const TENANT = ids.create('ten');
const KEY = createApiKey({ tenantId: TENANT, keyId: ids.create('key') }, systemRandom);
const TOKEN = 'o'.repeat(40);
const BY_KEY = { GRANTD_URL: 'http://env.example/', GRANTD_KEY: KEY };
const BY_TOKEN = { GRANTD_OPERATOR_URL: 'http://operator.example', GRANTD_OPERATOR_TOKEN: TOKEN };

const contexts = new ContextFile(join(directory, 'contexts.json'));
contexts.write({
  current: 'current',
  named: new Map([
    ['current', { api: 'public', url: 'http://current.example', secret: KEY }],
    ['other', { api: 'operator', url: 'http://other.example', secret: TOKEN, tenant: TENANT }],
  ]),
});
const noContexts = new ContextFile(join(directory, 'none.json'));
const data = join(directory, 'data');
const choose = (environment: Record<string, string>, name?: string, file = contexts): ServiceChoice =>
  chooseService(environment, file, name);
const refuses = (run: () => unknown, what: RegExp): void =>
  assert.throws(
    run,
    (error) => error instanceof CliFailure && what.test(error.message) && !error.message.includes(KEY),
  );

describe('the service of a command', () => {
  it('is that of --use-context, whatever else is set', () => {
    const { source, operator, key } = choose({ ...BY_KEY, ...BY_TOKEN }, 'other');
    assert.deepEqual(
      [source, operator?.url, key],
      ['the context "other" (--use-context)', 'http://other.example', undefined],
    );
    refuses(() => choose(BY_KEY, 'missing'), /There is no context "missing".*context list/);
  });

  it('is that of the settings, before a context', () => {
    assert.deepEqual(choose(BY_KEY), {
      source: 'the environment',
      key: { url: 'http://env.example', secret: KEY },
      operator: undefined,
      tenant: undefined,
    });
    assert.equal(choose({ ...BY_TOKEN, GRANTD_TENANT: TENANT }).tenant, TENANT);
    assert.equal(choose({ GRANTD_CONTEXT: 'other' }).operator?.url, 'http://other.example');
    refuses(() => choose({ GRANTD_CONTEXT: 'other', ...BY_KEY }), /both name a service/);
    refuses(() => choose({ GRANTD_URL: 'http://x' }), /GRANTD_URL and GRANTD_KEY go together/);
    refuses(() => choose({ GRANTD_URL: 'http://x', GRANTD_KEY: `${KEY}x` }), /GRANTD_KEY must be a whole API key/);
  });

  it('is that of the current context, before the directory; a directory that is named wins', () => {
    assert.equal(choose({}).key?.url, 'http://current.example');
    refuses(() => choose({ GRANTD_DATA_DIR: data }), /There is no .*data\/dev\.json/);
    refuses(() => choose({ GRANTD_OPERATOR_TOKEN: TOKEN, GRANTD_DATA_DIR: data }), /There is no .*data\/dev\.json/);
  });

  it('is that of dev.json, with its key and its token', () => {
    writeDevFile(directory, {
      base_url: 'http://127.0.0.1:1',
      ops_url: 'http://127.0.0.1:2',
      console_url: 'http://127.0.0.1:3',
      operator_token: TOKEN,
      key: KEY,
    });
    const choice = choose({ GRANTD_DATA_DIR: directory }, undefined, noContexts);
    assert.deepEqual(
      [choice.source, choice.key?.url, choice.operator?.url],
      [join(directory, 'dev.json'), 'http://127.0.0.1:1', 'http://127.0.0.1:3'],
    );
    assert.deepEqual([choice.key?.secret, choice.operator?.secret], [KEY, TOKEN]);
    refuses(
      () => choose({ GRANTD_DATA_DIR: directory, GRANTD_OPERATOR_TOKEN: 'x'.repeat(40) }, undefined, noContexts),
      /GRANTD_OPERATOR_TOKEN is not the token of the service of .*dev\.json/,
    );
  });

  it('takes a tenant from the settings before that of a context', () => {
    const named = ids.create('ten');
    assert.equal(choose({}, 'other').tenant, TENANT);
    assert.equal(choose({ GRANTD_TENANT: named }, 'other').tenant, named);
  });
});

describe('the API of a command', () => {
  const both: ServiceChoice = {
    source: 'the environment',
    key: { url: 'http://key', secret: KEY },
    operator: { url: 'http://operator', secret: TOKEN },
  };

  it("is the key's, unless a tenant is named", () => {
    assert.deepEqual(tenantTarget(both, undefined).target, { api: 'public', url: 'http://key', secret: KEY });
    const named = tenantTarget(both, TENANT);
    assert.deepEqual([named.target.api, named.tenant], ['operator', TENANT]);
    assert.equal(tenantTarget({ ...both, tenant: TENANT }, undefined).tenant, TENANT);
  });

  it('is refused where the other secret is needed', () => {
    const { operator: _, ...keyOnly } = both;
    refuses(() => tenantTarget(keyOnly, TENANT), /the environment names an API key, which belongs to one tenant/);
    refuses(() => operatorTarget(keyOnly), /Only the operator's API has this/);
    const { key: __, ...tokenOnly } = both;
    refuses(() => tenantTarget(tokenOnly, undefined), /The tenant is missing/);
    // A tenant of the settings says nothing about a key.
    assert.equal(tenantTarget({ ...keyOnly, tenant: TENANT }, undefined).target.api, 'public');
  });
});
