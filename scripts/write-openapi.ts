// Writes docs/reference/openapi.json from the schemas that validate requests. The committed copy names no machine.

import { writeFileSync } from 'node:fs';
import { committedOpenapiText } from '../src/http/openapi/committed-openapi.ts';

writeFileSync(new URL('../docs/reference/openapi.json', import.meta.url), committedOpenapiText());
