// `grantd model test`: the tests of a model in one file, against a shard in this process. It calls no service.

import type { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { addExamples, JSON_OPTION, type JsonOption } from '../command-parts.ts';
import type { EmbeddedShard } from '../embedded-tenant.ts';
import { CliFailure, EXIT } from '../failures.ts';
import { Coverage, coverageLines } from '../model/coverage.ts';
import type { ModelFile } from '../model/model-tests.ts';
import { readModelTests } from '../model/read-model-tests.ts';
import { type Difference, runModelTests, type TestResult } from '../model/run-model-tests.ts';
import { formatCount, renderJson } from '../output/render.ts';
import { createProgress } from '../progress.ts';

interface TestOptions extends JsonOption {
  readonly coverage?: boolean;
}

const shown = (value: unknown): string => (typeof value === 'object' ? 'as follows' : String(value));

function differenceLines({ place, question, expected, answer, details }: Difference): readonly string[] {
  const verdict =
    typeof expected === 'object' ? 'not as expected' : `expected ${shown(expected)}, answered ${shown(answer)}`;
  return [`  ${place}: ${question}: ${verdict}`, ...details.map((line) => `    ${line}`)];
}

interface FileReport {
  readonly file: string;
  readonly results: readonly TestResult[];
  readonly coverage: Coverage;
}

function reportRecord({ file, results, coverage }: FileReport, options: TestOptions) {
  const parts = coverage.parts.map(({ kind, text, seen }) => ({
    kind,
    text,
    true: seen.has(true),
    false: seen.has(false),
  }));
  return {
    file,
    tests: results.map(({ test, differences }) => ({
      name: test.name,
      place: test.place,
      questions: test.questions.length,
      passed: differences.length === 0,
      differences,
    })),
    ...(options.coverage ? { coverage: parts } : {}),
  };
}

async function testFile(
  context: CliContext,
  shard: EmbeddedShard,
  name: string,
  file: ModelFile,
  options: TestOptions,
): Promise<FileReport> {
  const results: TestResult[] = [];
  const coverage = new Coverage(file.ruleSet);
  const total = file.tests.reduce((sum, { questions }) => sum + questions.length, 0);
  const progress = createProgress(context, total, 'questions');
  let asked = 0;
  try {
    await context.untilInterrupted((signal) =>
      runModelTests(file, {
        shard,
        coverage,
        signal,
        onResult(result) {
          results.push(result);
          asked += result.test.questions.length;
          progress.update(asked, asked);
        },
      }),
    );
  } finally {
    progress.stop();
  }
  if (!options.json) {
    for (const { test, differences } of results.filter((result) => result.differences.length > 0)) {
      context.print([`${test.place}: ${test.name}`, ...differences.flatMap(differenceLines), ''].join('\n'));
    }
    const wrong = results.reduce((sum, { differences }) => sum + differences.length, 0);
    const failed = results.filter(({ differences }) => differences.length > 0).length;
    context.print(
      `${name}: ${formatCount(total - wrong)} of ${formatCount(total)} answers as expected; ${formatCount(failed)} of ${formatCount(results.length)} tests failed`,
    );
    if (options.coverage) for (const line of coverageLines(coverage)) context.print(line);
  }
  return { file: name, results, coverage };
}

async function testModels(context: CliContext, names: readonly string[], options: TestOptions): Promise<number> {
  try {
    const files: (readonly [string, ModelFile])[] = [];
    for (const name of names) files.push([name, await readModelTests(context, name)]);
    for (const [, { notes }] of files) for (const note of notes) context.note(note);
    const shard = await context.openShard();
    const reports: FileReport[] = [];
    try {
      for (const [name, file] of files) reports.push(await testFile(context, shard, name, file, options));
    } finally {
      await shard.close();
    }
    if (options.json) context.print(renderJson(reports.map((report) => reportRecord(report, options))));
    return reports.some(({ results }) => results.some(({ differences }) => differences.length > 0))
      ? EXIT.failed
      : EXIT.ok;
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error;
    // 1 says that a test failed.
    context.reportFailure(error);
    return error.exitCode === EXIT.interrupted ? EXIT.interrupted : EXIT.usage;
  }
}

export function registerModelCommands(program: Command, context: CliContext): void {
  const model = program.command('model').description('try a model without a service');
  const test = model
    .command('test')
    .description('run the tests of a model: its rules, grants, and questions with the expected answers')
    .argument(
      '<file...>',
      'YAML or JSON with tests: of grantd, a store of OpenFGA (store.fga.yaml), or a validation file of SpiceDB; - for standard input',
    )
    .option('--coverage', 'also show the names, gates and conditions of the rules that no test decided both ways')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nEach answer that differs is shown with its line, and why it is so. Nothing is read but these files and those that\nthey name, and no service is called.\nExit code: 0 all answers are as expected, 1 some are not, 2 a file is wrong, or wrong usage, 130 interrupted.',
    );
  addExamples(test, 'model test documents.yaml', 'model test store.fga.yaml --coverage').action(
    // The code of every other failure: 1 says that a test failed.
    context.action((files: string[], options: TestOptions) => testModels(context, files, options), {
      lostCode: EXIT.usage,
    }),
  );
}
