// Writes docs/reference/errors.md from the error catalogue.

import { writeFileSync } from 'node:fs';
import { renderErrorsPage } from './errors-page.ts';

writeFileSync(new URL('../docs/reference/errors.md', import.meta.url), renderErrorsPage());
