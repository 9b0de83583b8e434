// `grantd secrets`: makes the Secrets that a cluster in Kubernetes needs and that nobody gave. A Job of the Helm chart runs
// it. Nothing secret is printed.

import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { CliFailure, EXIT } from '../failures.ts';
import { type CertificateNames, ensureSecrets } from '../secrets/generated-secrets.ts';
import { openKubernetesSecrets } from '../secrets/kubernetes-secrets.ts';

interface SecretsOptions {
  readonly namespace: string;
  readonly name: string;
  readonly label: Readonly<Record<string, string>>;
  readonly operatorToken?: boolean;
  readonly shardNames?: readonly string[];
  readonly frontNames?: readonly string[];
  readonly consoleNames?: readonly string[];
  readonly certificateDays: number;
  readonly renewBeforeDays: number;
}

const DAYS_MAX = 3650;

const daysParser =
  (min: number) =>
  (text: string): number => {
    const days = /^\d{1,4}$/.test(text) ? Number(text) : -1;
    if (days < min || days > DAYS_MAX)
      throw new InvalidArgumentError(`It must be a number of days from ${min} to ${DAYS_MAX}.`);
    return days;
  };

const DNS_NAME = /^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const OBJECT_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

function parseObjectName(text: string): string {
  if (!OBJECT_NAME.test(text)) throw new InvalidArgumentError('It must be a name as Kubernetes has them.');
  return text;
}

function parseDnsNames(text: string): readonly string[] {
  const names = text.split(',');
  if (!names.every((name) => DNS_NAME.test(name))) throw new InvalidArgumentError('It must be DNS names with commas.');
  return names;
}

function addLabel(text: string, before: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const [, key, value] = /^([^=]+)=([^=]*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new InvalidArgumentError('It must be key=value.');
  return { ...before, [key]: value };
}

function certificateNames(options: SecretsOptions): CertificateNames | undefined {
  const { shardNames: shard, frontNames: front, consoleNames: console } = options;
  if (shard === undefined && front === undefined && console === undefined) return undefined;
  if (shard === undefined || front === undefined || console === undefined) {
    throw new CliFailure('--shard-names, --front-names and --console-names go together.', EXIT.usage);
  }
  return { shard, front, console };
}

export function registerSecretsCommand(program: Command, context: CliContext): void {
  program
    .command('secrets')
    .description('make the Secrets in Kubernetes that nobody gave, and renew certificates that end soon')
    .requiredOption('--namespace <name>', 'where they are made', parseObjectName)
    .requiredOption('--name <name>', 'what their names begin with', parseObjectName)
    .option('--label <key=value>', 'a label of each; repeat it for several', addLabel, {})
    .option('--operator-token', 'NAME-operator: a random token of the operator, under "token"')
    .option('--shard-names <names>', 'the DNS names of the certificate in NAME-tls-shard, with commas', parseDnsNames)
    .option('--front-names <names>', 'those of the one in NAME-tls-front', parseDnsNames)
    .option('--console-names <names>', 'those of the one in NAME-tls-console', parseDnsNames)
    .option('--certificate-days <days>', 'how long a certificate lasts', daysParser(1), DAYS_MAX)
    .option('--renew-before-days <days>', 'renews one that lasts no longer than this; 0: none', daysParser(0), 0)
    .addHelpText(
      'after',
      '\nCertificates come from an authority that is made in NAME-tls-authority, lasts ten years and is not renewed. What\nelse is there stays as it is. The API server is found by KUBECONFIG or by the service account of the pod.\n\nExamples:\n  grantd secrets --namespace grantd --name grantd --operator-token\n',
    )
    .action(
      context.action(async (options: SecretsOptions) => {
        const { namespace, name, label, operatorToken = false } = options;
        const certificates = certificateNames(options);
        const store = await openKubernetesSecrets({ namespace, labels: label });
        await ensureSecrets(
          { store, print: context.print, nowMs: Date.now(), randomBytes },
          {
            name,
            operatorToken,
            certificates,
            certificateDays: options.certificateDays,
            renewBeforeDays: options.renewBeforeDays,
          },
        );
        return EXIT.ok;
      }),
    );
}
