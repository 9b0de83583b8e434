// `grantd secrets`: creates the Secrets that a cluster in Kubernetes needs and that the operator has not provided. A
// Job of the Helm chart runs it. It prints no secret.

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
    if (days < min || days > DAYS_MAX) throw new InvalidArgumentError(`It must be from ${min} to ${DAYS_MAX} days.`);
    return days;
  };

const DNS_NAME = /^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const OBJECT_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

function parseObjectName(text: string): string {
  if (!OBJECT_NAME.test(text)) throw new InvalidArgumentError('It must be a valid Kubernetes name.');
  return text;
}

function parseDnsNames(text: string): readonly string[] {
  const names = text.split(',');
  if (!names.every((name) => DNS_NAME.test(name)))
    throw new InvalidArgumentError('It must be comma-separated DNS names.');
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
    throw new CliFailure('Pass all of --shard-names, --front-names and --console-names, or none.', EXIT.usage);
  }
  return { shard, front, console };
}

export function registerSecretsCommand(program: Command, context: CliContext): void {
  program
    .command('secrets', { hidden: true })
    .description('create missing Secrets in Kubernetes, and renew certificates that expire soon')
    .requiredOption('--namespace <name>', 'namespace of the Secrets', parseObjectName)
    .requiredOption('--name <name>', 'prefix of their names', parseObjectName)
    .option('--label <key=value>', 'label for each Secret; repeat for several labels', addLabel, {})
    .option('--operator-token', 'create NAME-operator with a random operator token under "token"')
    .option('--shard-names <names>', 'DNS names of the certificate in NAME-tls-shard, comma-separated', parseDnsNames)
    .option('--front-names <names>', 'DNS names of the certificate in NAME-tls-front', parseDnsNames)
    .option('--console-names <names>', 'DNS names of the certificate in NAME-tls-console', parseDnsNames)
    .option('--certificate-days <days>', 'how long a certificate is valid', daysParser(1), DAYS_MAX)
    .option(
      '--renew-before-days <days>',
      'renew a certificate that expires within this time; 0: never renew',
      daysParser(0),
      0,
    )
    .addHelpText(
      'after',
      '\nCertificates are issued by a CA, which is created in NAME-tls-authority, is valid for ten years and is not renewed.\nOther existing Secrets stay unchanged. The API server comes from KUBECONFIG or the service account of the pod.\n\nExamples:\n  grantd secrets --namespace grantd --name grantd --operator-token\n',
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
