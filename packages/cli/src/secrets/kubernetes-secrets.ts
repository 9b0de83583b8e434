// Secrets of one Kubernetes namespace. It needs the rights to create Secrets, to get those with known names, and to
// update those that are renewed.

import type { CoreV1Api, KubeConfig, V1Secret } from '@kubernetes/client-node';
import { CliFailure, EXIT, reasonOf } from '../failures.ts';
import type { SecretStore } from './generated-secrets.ts';

const CONFLICT = 409;
const NOT_FOUND = 404;

const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : undefined;

/** The API server's error in one line. Its message contains no secret. */
function describe(error: unknown): string {
  const status = statusOf(error);
  if (status === undefined) return reasonOf(error);
  const body: unknown = error instanceof Error && 'body' in error ? error.body : undefined;
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? '');
  const [message] = /(?<="message":\s*)"(?:[^"\\]|\\.)*"/.exec(text) ?? [];
  return `status ${status}: ${message === undefined ? 'no reason given' : JSON.parse(message)}`;
}

async function loadLibrary() {
  try {
    return await import('@kubernetes/client-node');
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND')) throw cause;
    throw new CliFailure('This package cannot write Secrets. Run the command from the image of grantd.', EXIT.usage, {
      cause,
    });
  }
}

export async function openKubernetesSecrets(options: {
  readonly namespace: string;
  /** On every Secret that is created. */
  readonly labels: Readonly<Record<string, string>>;
  /** By default KUBECONFIG, or the service account of the pod. */
  readonly kubeConfig?: KubeConfig;
}): Promise<SecretStore> {
  const { namespace, labels } = options;
  // Loaded only here: it takes a second and tens of megabytes, which no other command should cost.
  const library = await loadLibrary();
  const config = options.kubeConfig ?? new library.KubeConfig();
  if (options.kubeConfig === undefined) config.loadFromDefault();
  const api: CoreV1Api = config.makeApiClient(library.CoreV1Api);

  async function call<Value>(what: string, expected: number, work: () => Promise<Value>): Promise<Value | undefined> {
    try {
      return await work();
    } catch (error) {
      if (statusOf(error) === expected) return undefined;
      throw new CliFailure(`${what} in ${namespace} failed: ${describe(error)}`);
    }
  }

  return {
    async read(name) {
      const secret = await call(`Reading the Secret ${name}`, NOT_FOUND, () =>
        api.readNamespacedSecret({ name, namespace }),
      );
      if (secret === undefined) return undefined;
      return Object.fromEntries(
        Object.entries(secret.data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]),
      );
    },
    async create(name, { type, data }) {
      const body: V1Secret = { metadata: { name, namespace, labels: { ...labels } }, type, stringData: { ...data } };
      const created = await call(`Creating the Secret ${name}`, CONFLICT, () =>
        api.createNamespacedSecret({ namespace, body }),
      );
      return created !== undefined;
    },
    async replace(name, data) {
      const what = `Changing the Secret ${name}`;
      const secret = await call(what, NOT_FOUND, () => api.readNamespacedSecret({ name, namespace }));
      if (secret === undefined) throw new CliFailure(`${name} was removed while this command ran. Run it again.`);
      const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
      // With the version that was read, so that a concurrent change is refused and not undone.
      const body: V1Secret = { ...secret, data: { ...secret.data, ...Object.fromEntries(encoded) } };
      const changed = await call(what, CONFLICT, () => api.replaceNamespacedSecret({ name, namespace, body }));
      if (changed === undefined) throw new CliFailure(`${name} was changed while this command ran. Run it again.`);
    },
  };
}
