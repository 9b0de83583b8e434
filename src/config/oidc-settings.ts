// The settings of the operators' identity provider (OpenID Connect). Without an issuer, only operator tokens give
// access.

import { isLoopbackHost } from '../core/text/addresses.ts';
import { parseSecretText } from './cluster-parsers.ts';
import { parseUrl, quote } from './parsers.ts';
import { optional, plain, row, WrongSetting } from './setting.ts';

const NAME_LENGTH_MAX = 256;
const LIST_MAX = 100;
const roles = ['dev', 'console'] as const;

/** Kept to the letter, since tokens repeat it: some issuers end in `/`. */
function parseIssuer(text: string): string {
  parseUrl(text);
  const { protocol, hostname } = new URL(text);
  if (protocol !== 'https:' && !isLoopbackHost(hostname)) {
    throw new WrongSetting(`must begin with https:// unless the host is loopback; it is ${quote(text)}`);
  }
  if (text.includes('/.well-known/')) {
    throw new WrongSetting('must be the issuer itself, without /.well-known/openid-configuration');
  }
  return text;
}

/** Client ids, audiences and names of claims. */
function parseName(text: string): string {
  if (text.length > NAME_LENGTH_MAX || !/^[\x21-\x7e]+$/.test(text)) {
    throw new WrongSetting(
      `must be 1 to ${NAME_LENGTH_MAX} printable ASCII characters without spaces; it is ${quote(text)}`,
    );
  }
  return text;
}

function parseNames(text: string): readonly string[] {
  const names = text.split(',').map((part) => part.trim());
  if (names.length > LIST_MAX || names.some((name) => name === '' || name.length > NAME_LENGTH_MAX)) {
    throw new WrongSetting(
      `must be at most ${LIST_MAX} values of 1 to ${NAME_LENGTH_MAX} characters, separated by commas; it is ${quote(text)}`,
    );
  }
  return Object.freeze(names);
}

function parseScope(text: string): string {
  const scopes = text.split(' ');
  if (!scopes.includes('openid') || !scopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))) {
    throw new WrongSetting(`must be scopes separated by single spaces, one of them openid; it is ${quote(text)}`);
  }
  return text;
}

export const OIDC_SETTINGS = Object.freeze({
  consoleUrl: optional({
    ...plain,
    name: 'GRANTD_CONSOLE_URL',
    roles,
    form: 'URL',
    parse: parseUrl,
    unset: 'none',
    description:
      'The URL at which browsers reach the console. The identity provider sends them back to `/console/log-in/callback` below it.',
  }),
  oidcIssuer: optional({
    ...plain,
    name: 'GRANTD_OIDC_ISSUER',
    roles,
    form: 'URL with https',
    parse: parseIssuer,
    unset: 'none: only operator tokens give access',
    description:
      "The issuer of the operators' identity provider, exactly as its tokens name it. The rest is read from its `/.well-known/openid-configuration`.",
  }),
  oidcClientId: optional({
    ...plain,
    name: 'GRANTD_OIDC_CLIENT_ID',
    roles,
    form: 'text',
    parse: parseName,
    unset: 'none: nobody logs in to the console with the provider',
    description: 'The client as which the console is registered with the provider. Needs `GRANTD_CONSOLE_URL`.',
  }),
  oidcClientSecret: optional({
    name: 'GRANTD_OIDC_CLIENT_SECRET',
    roles,
    form: 'text',
    parse: parseSecretText,
    unset: 'none: a public client, with PKCE alone',
    file: true,
    secret: true,
    description: 'The secret of that client.',
  }),
  oidcAudience: optional({
    ...plain,
    name: 'GRANTD_OIDC_AUDIENCE',
    roles,
    form: 'text',
    parse: parseName,
    unset: "none: the operator's API accepts no access tokens",
    description:
      "The audience (`aud`) that an access token needs for the operator's API. Must differ from `GRANTD_OIDC_CLIENT_ID`, so that no ID token is taken for an access token.",
  }),
  oidcScope: row({
    ...plain,
    name: 'GRANTD_OIDC_SCOPE',
    roles,
    form: 'scopes separated by spaces',
    parse: parseScope,
    default: 'openid',
    description: 'The scopes of a log-in. Some providers put the claims into the ID token only for further scopes.',
  }),
  oidcNameClaim: row({
    ...plain,
    name: 'GRANTD_OIDC_NAME_CLAIM',
    roles,
    form: 'text',
    parse: parseName,
    default: 'sub',
    description:
      'The claim that names the operator in the audit log, as `operator:oidc:<value>`. Choose one that the provider never gives to somebody else.',
  }),
  oidcAccessClaim: row({
    ...plain,
    name: 'GRANTD_OIDC_ACCESS_CLAIM',
    roles,
    form: 'text',
    parse: parseName,
    default: 'grantd_access',
    description:
      'The claim that gives access: a text or a list of texts, such as roles or groups. Without one of the values below, there is no access.',
  }),
  oidcFullValues: row({
    ...plain,
    name: 'GRANTD_OIDC_FULL_VALUES',
    roles,
    form: 'comma-separated texts',
    parse: parseNames,
    default: 'full',
    description: 'The values of that claim that give full access.',
  }),
  oidcReadOnlyValues: row({
    ...plain,
    name: 'GRANTD_OIDC_READ_ONLY_VALUES',
    roles,
    form: 'comma-separated texts',
    parse: parseNames,
    default: 'read-only',
    description: 'The values of that claim that give read-only access.',
  }),
  oidcGroupsClaim: row({
    ...plain,
    name: 'GRANTD_OIDC_GROUPS_CLAIM',
    roles,
    form: 'text',
    parse: parseName,
    default: 'groups',
    description: 'The claim with the groups of a person: a text or a list of texts.',
  }),
  oidcRequiredGroups: optional({
    ...plain,
    name: 'GRANTD_OIDC_REQUIRED_GROUPS',
    roles,
    form: 'comma-separated texts',
    parse: parseNames,
    unset: 'none',
    description: 'Groups that a person must be in, every one of them, to have any access.',
  }),
});
