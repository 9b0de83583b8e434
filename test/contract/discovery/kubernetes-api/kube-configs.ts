// Configurations of the Kubernetes client, as a test makes them.

import { KubeConfig } from '@kubernetes/client-node';
import type { LoadKubeConfig } from '../../../../src/discovery/kubernetes/api-server.ts';

/** As a kubeconfig names them. */
type Fields = Readonly<Record<string, unknown>>;

/** A kubeconfig file with one cluster and one user; JSON is YAML. */
export function kubeConfigText(cluster: Fields, user: Fields): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster }],
    users: [{ name: 'user', user }],
    contexts: [{ name: 'context', context: { cluster: 'cluster', user: 'user' } }],
    'current-context': 'context',
  });
}

/** Reads the same text for every request, as a kubeconfig file would be. */
export function loadFromText(text: string | (() => string)): LoadKubeConfig {
  return async () => {
    const config = new KubeConfig();
    config.loadFromString(typeof text === 'string' ? text : text());
    return config;
  };
}

/** Without TLS, which the client has to be told. */
export const plainCluster = (address: string): Fields => ({
  server: `http://${address}`,
  'insecure-skip-tls-verify': true,
});
