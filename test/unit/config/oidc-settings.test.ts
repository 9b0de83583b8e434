// The settings of the operators' identity provider.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../../src/config/read-config.ts';

const GOOD = {
  GRANTD_OIDC_ISSUER: 'https://id.example.com/',
  GRANTD_OIDC_CLIENT_ID: 'grantd',
  GRANTD_CONSOLE_URL: 'https://console.example.com',
};

function refuses(environment: Readonly<Record<string, string | undefined>>, message: RegExp): void {
  assert.throws(() => readConfig('dev', environment), message);
}

describe('the settings of the identity provider', () => {
  it('are kept as they are given', () => {
    const config = readConfig('dev', {
      ...GOOD,
      GRANTD_OIDC_AUDIENCE: 'https://grantd.example.com/operator',
      GRANTD_OIDC_CLIENT_SECRET: 'a secret',
      GRANTD_OIDC_SCOPE: 'openid groups',
      GRANTD_OIDC_FULL_VALUES: 'admins, owners',
      GRANTD_OIDC_REQUIRED_GROUPS: 'staff',
    });
    assert.equal(config.oidcIssuer, 'https://id.example.com/');
    assert.equal(config.oidcClientSecret?.reveal(), 'a secret');
    assert.deepEqual([config.oidcFullValues, config.oidcRequiredGroups], [['admins', 'owners'], ['staff']]);
    assert.equal(readConfig('dev', { ...GOOD, GRANTD_OIDC_ISSUER: 'http://127.0.0.1:9000' }).oidcScope, 'openid');
  });

  it('alone give access to a console without operator tokens', () => {
    const console = { GRANTD_DISCOVERY: 'static:a:1', GRANTD_BASE_URL: 'https://grantd.example.com' };
    assert.equal(readConfig('console', { ...console, ...GOOD }).operatorToken, undefined);
  });

  it('are refused if they mean nothing', () => {
    for (const issuer of [
      'http://id.example.com',
      'https://id.example.com/.well-known/openid-configuration',
      'https://id.example.com?a=b',
      'https://user:password@id.example.com',
      'id.example.com',
    ]) {
      refuses({ ...GOOD, GRANTD_OIDC_ISSUER: issuer }, /GRANTD_OIDC_ISSUER must/);
    }
    refuses({ ...GOOD, GRANTD_OIDC_SCOPE: 'profile' }, /GRANTD_OIDC_SCOPE must/);
    refuses({ ...GOOD, GRANTD_OIDC_FULL_VALUES: 'a,,b' }, /GRANTD_OIDC_FULL_VALUES must/);
    refuses({ ...GOOD, GRANTD_OIDC_ACCESS_CLAIM: 'a claim' }, /GRANTD_OIDC_ACCESS_CLAIM must/);
  });

  it('are refused if one that others need is missing', () => {
    const { GRANTD_OIDC_ISSUER, GRANTD_OIDC_CLIENT_ID, GRANTD_CONSOLE_URL } = GOOD;
    refuses({ GRANTD_OIDC_ISSUER }, /GRANTD_OIDC_ISSUER goes together with/);
    refuses({ GRANTD_OIDC_CLIENT_ID, GRANTD_CONSOLE_URL }, /GRANTD_OIDC_ISSUER goes together with/);
    refuses({ GRANTD_OIDC_AUDIENCE: 'a' }, /GRANTD_OIDC_ISSUER goes together with/);
    refuses({ GRANTD_OIDC_ISSUER, GRANTD_OIDC_CLIENT_ID }, /needs GRANTD_CONSOLE_URL/);
    refuses(
      { GRANTD_OIDC_ISSUER, GRANTD_OIDC_AUDIENCE: 'a', GRANTD_OIDC_CLIENT_SECRET: 'b' },
      /needs GRANTD_OIDC_CLIENT_ID/,
    );
  });

  it('never let an ID token pass for an access token', () => {
    refuses({ ...GOOD, GRANTD_OIDC_AUDIENCE: 'grantd' }, /GRANTD_OIDC_AUDIENCE must differ/);
  });
});
