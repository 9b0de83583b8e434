// How the operator's commands find the operator's API: by the settings, otherwise by the dev.json of the data
// directory.

import type { CliConfig } from '../../config/settings.ts';
import { devFilePath, readDevFile } from '../dev/dev-file.ts';
import { StartError } from '../process/start-error.ts';

export interface OperatorTarget {
  /** Without a trailing `/`. */
  readonly url: string;
  readonly token: string;
}

/** Throws a StartError that says what to set if nothing names the service. */
export function resolveOperatorTarget(config: CliConfig): OperatorTarget {
  const token = config.operatorToken?.reveal();
  // The settings refuse an address without a token.
  if (config.operatorUrl !== undefined && token !== undefined) return { url: config.operatorUrl, token };
  const file = readDevFile(config.dataDirectory);
  if (file === undefined) {
    throw new StartError(
      `There is no ${devFilePath(config.dataDirectory)}. Start the service with "npm start" in the same directory, or set GRANTD_DATA_DIR, or GRANTD_OPERATOR_URL and GRANTD_OPERATOR_TOKEN.`,
    );
  }
  return { url: file.console_url, token: token ?? file.operator_token };
}
