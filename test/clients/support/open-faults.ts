// The faults of the table that a client does not meet yet. A fault leaves the list with the change that meets it.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LIST = join(import.meta.dirname, 'open-faults.json');

export const openFaults = (client: string): readonly string[] =>
  existsSync(LIST) ? (JSON.parse(readFileSync(LIST, 'utf8'))[client] ?? []) : [];
