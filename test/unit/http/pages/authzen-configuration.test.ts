// The metadata of the service as a policy decision point.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAuthzenConfiguration } from '../../../../src/http/pages/public-pages.ts';
import { assertProblem, call } from '../../../kit/http-client.ts';
import { startHttp } from '../http-in-process.ts';

const PATH = '/.well-known/authzen-configuration';

describe('the metadata of the policy decision point', () => {
  it('is made of the base URL, whose path comes last', () => {
    const { path, json } = createAuthzenConfiguration('https://pdp.example.com') ?? assert.fail();
    assert.equal(path, PATH);
    assert.deepEqual(JSON.parse(json), {
      policy_decision_point: 'https://pdp.example.com',
      access_evaluation_endpoint: 'https://pdp.example.com/access/v1/evaluation',
      access_evaluations_endpoint: 'https://pdp.example.com/access/v1/evaluations',
      search_subject_endpoint: 'https://pdp.example.com/access/v1/search/subject',
      search_resource_endpoint: 'https://pdp.example.com/access/v1/search/resource',
      search_action_endpoint: 'https://pdp.example.com/access/v1/search/action',
    });
    const below = createAuthzenConfiguration('https://example.com:8443/a(b)/c') ?? assert.fail();
    assert.equal(below.path, `${PATH}/a(b)/c`);
    assert.equal(JSON.parse(below.json).policy_decision_point, 'https://example.com:8443/a(b)/c');
    assert.equal(createAuthzenConfiguration('http://pdp.example.com'), undefined);
  });

  it('is served to everybody, whatever the host and the key of a request say', async () => {
    for (const path of ['', '/a(b)']) {
      const baseUrl = `https://pdp.example.com${path}`;
      const http = await startHttp({ baseUrl });
      const wanted = createAuthzenConfiguration(baseUrl)?.json;
      for (const headers of [{}, { host: 'evil.example' }, { 'x-forwarded-host': 'evil.example' }]) {
        const answer = await call(http.url, { method: 'GET', path: `${PATH}${path}`, headers });
        assert.deepEqual([answer.status, answer.text], [200, wanted]);
        assert.equal(answer.headers['content-type'], 'application/json');
      }
      const key = 'gk1_junk';
      assert.equal((await call(http.url, { method: 'GET', path: `${PATH}${path}`, key })).status, 200);
      const posted = await call(http.url, { method: 'POST', path: `${PATH}${path}`, body: {} });
      assertProblem(posted, 405, 'method-not-allowed', `${baseUrl}/errors`);
      assert.equal(posted.headers.allow, 'GET, HEAD');
      for (const other of ['/tenant1', '/', '/a']) {
        const missing = await call(http.url, { method: 'GET', path: `${PATH}${path}${other}` });
        assertProblem(missing, 404, 'not-found', `${baseUrl}/errors`);
      }
      assert.match(await http.metrics.render(), /operation="readAuthzenConfiguration",status="200"\} 4/);
      await http.close();
    }
  });

  it('is not there unless the base URL is https', async () => {
    for (const baseUrl of ['http://pdp.example.com', undefined]) {
      const http = await startHttp({ baseUrl });
      const answer = await call(http.url, { method: 'GET', path: PATH });
      assert.equal(answer.status, 404);
      await http.close();
    }
  });
});
