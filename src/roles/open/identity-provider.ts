// The operators' identity provider, if the settings name one. Only then are its libraries loaded.

import { PAGES_PREFIX } from '../../../packages/console/src/page.ts';
import type { ConsoleConfig } from '../../config/settings.ts';
import type { Clock, Random } from '../../core/async/clock.ts';
import type { IdentityProvider } from '../../operator/identity/identity-provider.ts';
import type { Log } from '../../telemetry/log.ts';

export type IdentityConfig = Pick<
  ConsoleConfig,
  | 'consoleUrl'
  | 'oidcIssuer'
  | 'oidcClientId'
  | 'oidcClientSecret'
  | 'oidcAudience'
  | 'oidcScope'
  | 'oidcNameClaim'
  | 'oidcAccessClaim'
  | 'oidcFullValues'
  | 'oidcReadOnlyValues'
  | 'oidcGroupsClaim'
  | 'oidcRequiredGroups'
>;

export async function openIdentityProvider(
  dependencies: { readonly clock: Clock; readonly random: Random; readonly log: Log },
  config: IdentityConfig,
): Promise<IdentityProvider | undefined> {
  const { oidcIssuer: issuer, oidcClientId: id, consoleUrl } = config;
  if (issuer === undefined) return undefined;
  const client =
    // A rule of the settings guarantees that a client comes with the URL.
    id === undefined || consoleUrl === undefined
      ? undefined
      : {
          id,
          secret: config.oidcClientSecret?.reveal(),
          redirectUri: `${consoleUrl}${PAGES_PREFIX}/log-in/callback`,
          scope: config.oidcScope,
        };
  const { createIdentityProvider } = await import('../../operator/identity/identity-provider.ts');
  return createIdentityProvider(dependencies, {
    issuer,
    client,
    audience: config.oidcAudience,
    claims: {
      nameClaim: config.oidcNameClaim,
      accessClaim: config.oidcAccessClaim,
      fullValues: config.oidcFullValues,
      readOnlyValues: config.oidcReadOnlyValues,
      groupsClaim: config.oidcGroupsClaim,
      requiredGroups: config.oidcRequiredGroups ?? [],
    },
  });
}
