// `npm run simulate`: runs seeds (`--seeds N --from S`), or one with its trace (`--seed N`).

import { runSeed } from './simulation-run.ts';

const seed = Number(process.argv[3] ?? 1);
const count = Number(process.argv[4] ?? 1);
for (let index = seed; index < seed + count; index += 1) {
  const startMs = performance.now();
  const result = await runSeed({ seed: index, ...(count > 1 ? {} : { write: (line) => process.stdout.write(`${line}\n`) }) });
  process.stdout.write(`${JSON.stringify(result)} ${Math.round(performance.now() - startMs)} ms\n`);
}
