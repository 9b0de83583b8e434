// Which service the commands call. The first of these that says anything decides alone, so that no address meets a
// secret of another place: a context that the command line names, the settings, the current context, and the dev.json
// of `grantd dev` in this directory.

import { homedir } from 'node:os';
import { ContextFile, contextFilePath, type ServiceContext } from '../../packages/cli/src/context-file.ts';
import { CliFailure, EXIT } from '../../packages/cli/src/failures.ts';
import type { ServiceChoice } from '../../packages/cli/src/service-choice.ts';
import { ConfigError, type Environment, readConfig } from '../config/read-config.ts';
import type { CliConfig } from '../config/settings.ts';
import { devFilePath, findLocalService } from './dev/dev-file.ts';
import { StartError } from './process/start-error.ts';

const nothingNames = (config: CliConfig): CliFailure =>
  new CliFailure(
    `There is no ${devFilePath(config.dataDirectory)}. Start the service with "npm start" in the same directory, or name one: set GRANTD_URL and GRANTD_KEY (an API key) or GRANTD_OPERATOR_URL and GRANTD_OPERATOR_TOKEN, or add a context with "grantd context add".`,
  );

export const openContexts = (environment: Environment): ContextFile =>
  new ContextFile(contextFilePath(environment, homedir()));

/** A wrong setting is a usage error, a service that is not found is a failure. */
function readCliConfig(environment: Environment): CliConfig {
  try {
    return readConfig('cli', environment);
  } catch (error) {
    if (error instanceof ConfigError) throw new CliFailure(error.message, EXIT.usage, { cause: error });
    throw error;
  }
}

function choiceOf(source: string, { api, url, secret, tenant }: ServiceContext, config: CliConfig): ServiceChoice {
  const endpoint = { url, secret };
  if (api === 'public') return { source, key: endpoint };
  return { source, operator: endpoint, tenant: config.tenant ?? tenant };
}

function namedContext(contexts: ContextFile, name: string, by: string, config: CliConfig): ServiceChoice {
  const context = contexts.read().named.get(name);
  if (context !== undefined) return choiceOf(`the context "${name}" (${by})`, context, config);
  throw new CliFailure(
    `There is no context ${JSON.stringify(name)} (${by}): "grantd context list" shows those there are.`,
    EXIT.usage,
  );
}

function devChoice(config: CliConfig): ServiceChoice | undefined {
  const file = findLocalService(config);
  if (file === undefined) return undefined;
  const { base_url: baseUrl, console_url: consoleUrl, operator_token: token, key } = file;
  return {
    source: devFilePath(config.dataDirectory),
    key: key === undefined ? undefined : { url: baseUrl, secret: key },
    operator: { url: consoleUrl, secret: token },
    tenant: config.tenant,
  };
}

function environmentChoice({
  apiUrl,
  apiKey,
  operatorUrl,
  operatorToken,
  tenant,
}: CliConfig): ServiceChoice | undefined {
  // The settings refuse an address without its secret.
  const endpoint = (url: string | undefined, secret: CliConfig['apiKey']) =>
    url === undefined || secret === undefined ? undefined : { url, secret: secret.reveal() };
  const key = endpoint(apiUrl, apiKey);
  const operator = endpoint(operatorUrl, operatorToken);
  return key === undefined && operator === undefined ? undefined : { source: 'the environment', key, operator, tenant };
}

function choose(environment: Environment, contexts: ContextFile, contextName: string | undefined): ServiceChoice {
  const config = readCliConfig(environment);
  if (contextName !== undefined) return namedContext(contexts, contextName, '--use-context', config);
  const set = environmentChoice(config);
  if (set !== undefined) return set;
  if (config.contextName !== undefined) return namedContext(contexts, config.contextName, 'GRANTD_CONTEXT', config);
  // A directory, or a token for the service in it, selects that service.
  const inDirectory = Boolean(environment.GRANTD_DATA_DIR) || config.operatorToken !== undefined;
  const { current } = inDirectory ? { current: undefined } : contexts.read();
  if (current !== undefined) return namedContext(contexts, current, 'grantd context use', config);
  const choice = devChoice(config);
  if (choice !== undefined) return choice;
  throw nothingNames(config);
}

/** Throws a CliFailure that says what to set if nothing names a service. */
export function chooseService(
  environment: Environment,
  contexts: ContextFile,
  contextName: string | undefined,
): ServiceChoice {
  try {
    return choose(environment, contexts, contextName);
  } catch (error) {
    if (error instanceof StartError) throw new CliFailure(error.message, EXIT.failed, { cause: error });
    throw error;
  }
}
