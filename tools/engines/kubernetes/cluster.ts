// A real Kubernetes for tests: a control plane and nodes of its own, on this machine, which can be cut off, and
// programs to speak to it. It is in the hands of a shell (cluster.sh) that ends all of it when this process ends,
// however it ends.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { missingFor, ObedientScript } from '../engine-script.ts';
import { PROGRAMS_DIRECTORY } from '../tools-directory.ts';

const CLUSTER = join(import.meta.dirname, 'cluster.sh');
const TOOLS = join(import.meta.dirname, 'tools.sh');
const OUTPUT_BYTES_MAX = 32 * 1024 * 1024;
const COMMAND_MS_MAX = 300_000;

const execute = promisify(execFile);

export interface CommandOptions {
  /** Given to its standard input. */
  readonly input?: string;
  readonly timeoutMs?: number;
  /** Where it runs; default: where this process does. */
  readonly directory?: string;
}

/**
 * Undefined where a cluster can be started; else why not. For the head of a test file: its suites are skipped for that
 * reason. The first call on a machine builds Kubernetes from its sources, for half an hour.
 */
export function missingKubernetes(what: string): Promise<string | undefined> {
  const reason = 'Kubernetes cannot be had on this machine: Go, the sources, the Debian packages or root are missing.';
  return missingFor(what, reason, TOOLS, ['install']);
}

export class KubernetesCluster {
  /** Holds the logs of the programs of the cluster, under `logs`, and goes with it. */
  readonly directory: string;
  readonly kubeconfig: string;
  /** The first two numbers of every address of the cluster. */
  readonly network: string;
  readonly #script: ObedientScript;

  /**
   * Resolves when every node is ready: after some 15 s for two. Nodes are numbered from 1 and named `node1`, `node2`.
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

  /** Of the host, where pods reach what listens there. `number`: 1 to 255, each another address. */
  hostAddress(number: number): string {
    return `${this.network}.240.${number}`;
  }

  /** Returns the standard output; fails with what it said on standard error. */
  kubectl(args: readonly string[], options?: CommandOptions): Promise<string> {
    return this.#run(join(PROGRAMS_DIRECTORY, 'kubectl'), args, options);
  }

  helm(args: readonly string[], options?: CommandOptions): Promise<string> {
    return this.#run(join(PROGRAMS_DIRECTORY, 'helm'), args, options);
  }

  /** Runs it as a person would, with `kubectl` and `helm` at hand; fails with the first command that does. */
  shell(script: string, directory: string): Promise<string> {
    return this.#run('bash', ['-euc', script], { directory });
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

  /** What `kubectl get … -o json` says. */
  async read(args: readonly string[]): Promise<ReturnType<typeof JSON.parse>> {
    return JSON.parse(await this.kubectl(['get', ...args, '-o', 'json']));
  }

  /** An object or several, as YAML or JSON. */
  async apply(manifest: string): Promise<void> {
    await this.kubectl(['apply', '-f', '-'], { input: manifest });
  }

  /** An image as `docker save` writes it, into every node. */
  loadImage(path: string): Promise<void> {
    return this.#script.tell('load', path);
  }

  /** An image that holds one of the programs of the cluster and nothing else. */
  loadProgram(program: string, reference: string): Promise<void> {
    return this.#script.tell('load-program', program, reference);
  }

  /** Nothing gets to the node or from it any more, and nobody is told. */
  cutNode(node: number): Promise<void> {
    return this.#script.tell('cut', String(node));
  }

  mendNode(node: number): Promise<void> {
    return this.#script.tell('mend', String(node));
  }

  /** `kill -9`. */
  stopApi(): Promise<void> {
    return this.#script.tell('stop-api');
  }

  /** Resolves when it answers. */
  startApi(): Promise<void> {
    return this.#script.tell('start-api');
  }

  /** `kill -9` of its first process, as when it takes more memory than it may. */
  killContainer(pod: string, container: string): Promise<void> {
    return this.#script.tell('kill', pod, container);
  }

  /** Ends everything. */
  stop(): Promise<void> {
    return this.#script.stop();
  }
}
