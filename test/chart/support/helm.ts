// Helm and Kustomize as tests run them: the pinned versions, built on first use, on the chart and examples of this
// project.

import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { missingFor } from '../../../tools/engines/engine-script.ts';
import { PROGRAMS_DIRECTORY } from '../../../tools/engines/tools-directory.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const TOOLS_SCRIPT = join(ROOT, 'tools', 'engines', 'kubernetes', 'tools.sh');
const run = promisify(execFile);

export const CHART = join(ROOT, 'charts', 'grantd');
/** Of every rendering, unless told otherwise. */
export const RELEASE = 'grantd';
export const NAMESPACE = 'authorization';

const HELM = join(PROGRAMS_DIRECTORY, 'helm');
const KUSTOMIZE = join(PROGRAMS_DIRECTORY, 'kustomize');

const missingProgram = (what: string, program: string): Promise<string | undefined> => {
  const reason = `There is no ${program}, and Go or its modules are missing on this machine.`;
  return missingFor(what, reason, TOOLS_SCRIPT, ['install', program]);
};

/** Undefined if Helm can be run; otherwise why not. The first call on a machine takes some minutes. */
export const missingHelm = (what: string): Promise<string | undefined> => missingProgram(what, 'helm');

/** The same for Kustomize. */
export const missingKustomize = (what: string): Promise<string | undefined> => missingProgram(what, 'kustomize');

/** An object of Kubernetes, as it is rendered. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // What the kinds have differs; tests look at what they know, and schemas at the rest.
  readonly [field: string]: unknown;
}

/** The values files of `ci/`, by name without the ending. */
export const CI_VALUES: readonly string[] = readdirSync(join(CHART, 'ci'))
  .map((name) => /^(.+)-values\.yaml$/.exec(name)?.[1])
  .filter((name) => name !== undefined)
  .sort();

export const ciFile = (name: string): string => join(CHART, 'ci', `${name}-values.yaml`);

export interface RenderOptions {
  /** One of `ci/`, by name. */
  readonly ci: string;
  /** Laid over it, as `--set-json` has them: path to value. */
  readonly set?: Readonly<Record<string, unknown>>;
  readonly release?: string;
  /** Another folder with a chart. */
  readonly chart?: string;
  /** The kubeconfig of a cluster that templates may ask; without one, they find nothing in theirs. */
  readonly kubeConfigFile?: string;
}

const valuesArguments = ({ ci, set = {} }: RenderOptions): string[] => [
  '--values',
  ciFile(ci),
  ...Object.entries(set).flatMap(([path, value]) => ['--set-json', `${path}=${JSON.stringify(value)}`]),
];

/** The text that Helm would apply. Rejects with what Helm says where it refuses. */
export async function renderText(options: RenderOptions): Promise<string> {
  const { release = RELEASE, chart = CHART, kubeConfigFile } = options;
  const cluster = kubeConfigFile === undefined ? [] : ['--kubeconfig', kubeConfigFile, '--dry-run=server'];
  const { stdout } = await run(
    HELM,
    ['template', release, chart, '--namespace', NAMESPACE, ...valuesArguments(options), ...cluster],
    { maxBuffer: 64 * 1024 * 1024 },
  );
  return stdout;
}

const renderings = new Map<string, Promise<KubernetesObject[]>>();

/** The objects that Helm would apply. Rendered once for the same options, so nobody may change them. */
export function render(options: RenderOptions): Promise<KubernetesObject[]> {
  const key = JSON.stringify(options);
  const rendering =
    renderings.get(key) ??
    renderText(options).then((text) =>
      parseAllDocuments(text)
        .map((document) => document.toJS() as KubernetesObject | null)
        .filter((object) => object !== null),
    );
  renderings.set(key, rendering);
  return rendering;
}

/**
 * What Helm prints after an installation. Only a cluster would make it do so, so an object of the user's holds it here.
 */
export async function renderNotes(options: RenderOptions): Promise<string> {
  const holder =
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\ndata: {notes: {{ include "grantd.notes" . | quote }}}';
  const objects = await render({ ...options, set: { ...options.set, extraObjects: [holder] } });
  const { data } = objects.find(({ metadata }) => metadata.name === 'notes') as {
    data?: { notes: string };
  } & KubernetesObject;
  return data?.notes ?? '';
}

/** The objects that `kubectl apply --kustomize` would apply: kubectl has the same library. */
export async function buildKustomization(folder: string): Promise<KubernetesObject[]> {
  const { stdout } = await run(KUSTOMIZE, ['build', join(ROOT, folder)]);
  return parseAllDocuments(stdout).map((document) => document.toJS() as KubernetesObject);
}

/** Rejects with what Helm says where it finds anything. */
export async function lint(ci: string): Promise<void> {
  await run(HELM, ['lint', '--strict', CHART, '--values', ciFile(ci)]);
}

/** What Helm says of values that it refuses; undefined where it takes them. */
export async function refusalOf(options: RenderOptions): Promise<string | undefined> {
  try {
    await renderText(options);
    return undefined;
  } catch (error) {
    if (error instanceof Error && 'stderr' in error) return String(error.stderr);
    throw error;
  }
}
