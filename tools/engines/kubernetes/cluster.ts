// A real Kubernetes for tests: its own control plane and nodes on this machine, which can be cut off, and programs to
// talk to it. A shell (cluster.sh) runs all of it and ends it when this process ends, however it ends.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { missingFor, ObedientScript } from '../engine-script.ts';
import { PROGRAMS_DIRECTORY } from '../tools-directory.ts';

const CLUSTER = join(import.meta.dirname, 'cluster.sh');
const TOOLS = join(import.meta.dirname, 'tools.sh');
const OUTPUT_BYTES_MAX = 32 * 1024 * 1024;
const COMMAND_MS_MAX = 300_000;
/** As in node.sh. */
const REGISTRY_NUMBER = 250;
const REGISTRY_PORT = 5000;

const execute = promisify(execFile);

export interface CommandOptions {
  /** Its standard input. */
  readonly input?: string;
  readonly timeoutMs?: number | undefined;
  /** The working directory; by default that of this process. */
  readonly directory?: string;
}

/**
 * Undefined if a cluster can be started, otherwise why not. For the head of a test file: its suites are skipped for
 * that reason. The first call on a machine builds Kubernetes from source, which takes half an hour.
 */
export function missingKubernetes(what: string): Promise<string | undefined> {
  const reason =
    'Kubernetes is not available on this machine: Go, the sources, the Debian packages or root are missing.';
  return missingFor(what, reason, TOOLS, ['install']);
}

export class KubernetesCluster {
  /** Contains the logs of the cluster's programs, under `logs`, and is removed with it. */
  readonly directory: string;
  readonly kubeconfig: string;
  /** The first two numbers of every address of the cluster. */
  readonly network: string;
  readonly #script: ObedientScript;

  /**
   * Resolves when every node is ready: after about 15 s for two. Nodes are numbered from 1 and named `node1`, `node2`.
   */
  static async start({ nodes }: { readonly nodes: number }): Promise<KubernetesCluster> {
    return new KubernetesCluster(await ObedientScript.start('Kubernetes', CLUSTER, ['serve', String(nodes)]));
  }

  private constructor(script: ObedientScript) {
    const [number = '', directory = ''] = script.facts;
    this.#script = script;
    this.directory = directory;
    this.kubeconfig = join(directory, 'kubeconfig');
    this.network = `10.${number}`;
  }

  /** An address of the host that pods can reach. `number`: 1 to 255, each another address. */
  hostAddress(number: number): string {
    return `${this.network}.240.${number}`;
  }

  /** Where a registry has to listen for its images to be pulled by the nodes, which expect no TLS of it. */
  get registry(): { readonly host: string; readonly port: number } {
    return { host: this.hostAddress(REGISTRY_NUMBER), port: REGISTRY_PORT };
  }

  /** Returns the standard output; fails with the standard error. */
  kubectl(args: readonly string[], options?: CommandOptions): Promise<string> {
    return this.#run(join(PROGRAMS_DIRECTORY, 'kubectl'), args, options);
  }

  helm(args: readonly string[], options?: CommandOptions): Promise<string> {
    return this.#run(join(PROGRAMS_DIRECTORY, 'helm'), args, options);
  }

  /** Runs it as a person would, with `kubectl` and `helm` available; fails with the first failing command. */
  shell(script: string, directory: string, timeoutMs?: number): Promise<string> {
    return this.#run('bash', ['-euc', script], { directory, timeoutMs });
  }

  async #run(command: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
    const home = join(this.directory, 'helm');
    const running = execute(command, args, {
      cwd: options.directory,
      timeout: options.timeoutMs ?? COMMAND_MS_MAX,
      maxBuffer: OUTPUT_BYTES_MAX,
      env: {
        PATH: `${PROGRAMS_DIRECTORY}:${process.env.PATH ?? ''}`,
        HOME: home,
        KUBECONFIG: this.kubeconfig,
        HELM_CACHE_HOME: home,
        HELM_CONFIG_HOME: home,
        HELM_DATA_HOME: home,
      },
    });
    running.child.stdin?.on('error', () => {});
    running.child.stdin?.end(options.input ?? '');
    return (await running).stdout;
  }

  /** The output of `kubectl get … -o json`. */
  async read(args: readonly string[]): Promise<ReturnType<typeof JSON.parse>> {
    return JSON.parse(await this.kubectl(['get', ...args, '-o', 'json']));
  }

  /** One or more objects, as YAML or JSON. */
  async apply(manifest: string): Promise<void> {
    await this.kubectl(['apply', '-f', '-'], { input: manifest });
  }

  /** Loads an image in the format of `docker save` into every node. */
  loadImage(path: string): Promise<void> {
    return this.#script.command('load', path);
  }

  /** Loads an image that contains only one of the cluster's programs. */
  loadProgram(program: string, reference: string): Promise<void> {
    return this.#script.command('load-program', program, reference);
  }

  /** Silently drops all traffic to and from the node. */
  cutNode(node: number): Promise<void> {
    return this.#script.command('cut', String(node));
  }

  mendNode(node: number): Promise<void> {
    return this.#script.command('mend', String(node));
  }

  /** `kill -9`. */
  stopApi(): Promise<void> {
    return this.#script.command('stop-api');
  }

  /** Resolves when it responds. */
  startApi(): Promise<void> {
    return this.#script.command('start-api');
  }

  /** `kill -9` of its first process, as when it exceeds its memory. */
  killContainer(pod: string, container: string): Promise<void> {
    return this.#script.command('kill', pod, container);
  }

  /** Ends everything. */
  stop(): Promise<void> {
    return this.#script.stop();
  }
}
