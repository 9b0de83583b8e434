// The pods within rendered objects, and the rules of the Pod Security Standard "restricted" for them.

import type { KubernetesObject } from './helm.ts';

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly ports?: readonly { readonly name: string }[];
  readonly args?: readonly string[];
  readonly restartPolicy?: string;
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
    readonly runAsNonRoot?: boolean;
  };
  readonly resources?: { readonly requests?: object; readonly limits?: object };
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

export interface PodSpec {
  readonly serviceAccountName: string;
  readonly automountServiceAccountToken: boolean;
  readonly priorityClassName?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly enableServiceLinks?: boolean;
  readonly securityContext?: {
    readonly runAsNonRoot?: boolean;
    readonly runAsUser?: number;
    readonly seccompProfile?: { readonly type?: string };
  };
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Readonly<Record<string, unknown>>[];
}

export interface Pod {
  /** As in `front`. */
  readonly component: string;
  readonly object: KubernetesObject;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: PodSpec;
}

const COMPONENT = 'app.kubernetes.io/component';

/** The pods that the objects are or make. */
export function podsOf(objects: readonly KubernetesObject[]): Pod[] {
  return objects.flatMap((object) => {
    const spec = object.spec as
      | { template?: PodTemplate; jobTemplate?: { spec: { template: PodTemplate } } }
      | undefined;
    const template = (object.kind === 'Pod' ? object : (spec?.jobTemplate?.spec ?? spec)?.template) as
      | PodTemplate
      | undefined;
    if (template?.spec?.containers === undefined) return [];
    const labels = template.metadata.labels;
    return [{ component: labels[COMPONENT] ?? '', object, labels, spec: template.spec }];
  });
}

export const containersOf = ({ spec }: Pod): readonly Container[] => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
];

const VOLUMES = new Set([
  'configMap',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);

/** What keeps a pod from the Pod Security Standard "restricted", and from a root filesystem that nothing writes to. */
export function findSecurityViolations(pod: Pod): string[] {
  const { spec } = pod;
  const found: string[] = [];
  const { runAsNonRoot, runAsUser, seccompProfile } = spec.securityContext ?? {};
  if (runAsNonRoot !== true) found.push('runAsNonRoot');
  if (runAsUser === 0) found.push('runAsUser');
  if (seccompProfile?.type !== 'RuntimeDefault') found.push('seccompProfile');
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC']) if (field in spec) found.push(field);
  for (const { name, ...source } of spec.volumes ?? []) {
    for (const type of Object.keys(source)) if (!VOLUMES.has(type)) found.push(`volume ${name}: ${type}`);
  }
  for (const { name, securityContext = {} } of containersOf(pod)) {
    const { allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities } = securityContext;
    if (allowPrivilegeEscalation !== false) found.push(`${name}: allowPrivilegeEscalation`);
    if (readOnlyRootFilesystem !== true) found.push(`${name}: readOnlyRootFilesystem`);
    if (!capabilities?.drop?.includes('ALL')) found.push(`${name}: capabilities`);
    if ((capabilities?.add ?? []).length > 0) found.push(`${name}: added capabilities`);
  }
  return found.map((each) => `${pod.object.kind} ${pod.object.metadata.name}: ${each}`);
}
