// The instructions of a Dockerfile, and what they copy from the checkout.

interface Instruction {
  readonly word: string;
  readonly text: string;
}

export interface Stage {
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

/** The instructions in their order, one list per FROM; comments are gone and lines that go on are joined. */
export function parseStages(dockerfile: string): Stage[] {
  const lines = dockerfile
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: { base: string; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [word = '', ...rest] = line.trim().split(' ');
    if (word === 'FROM') stages.push({ base: rest[0] ?? '', instructions: [] });
    else stages.at(-1)?.instructions.push({ word, text: rest.join(' ') });
  }
  return stages;
}

/** Files and folders of the checkout that take part in the build. */
export const listBuildSources = (stages: readonly Stage[]): string[] =>
  stages
    .flatMap(({ instructions }) => instructions)
    .filter(({ word, text }) => word === 'COPY' && !text.startsWith('--from='))
    .flatMap(({ text }) => text.split(' ').slice(0, -1));
