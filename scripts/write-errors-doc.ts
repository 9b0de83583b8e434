// Writes docs/reference/errors.md from the error catalogue.

import { writeFileSync } from 'node:fs';
import { errorsDocumentText } from '../src/http/errors-document.ts';

writeFileSync(new URL('../docs/reference/errors.md', import.meta.url), errorsDocumentText());
