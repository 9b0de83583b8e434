// The two scripts for browsers that are made of packages, as files that the service sends: neither the packages nor a
// bundler are needed where it runs. Invariant: each is what the pinned versions give; a test compares.

import scalar from '@scalar/fastify-api-reference';
import { build } from 'esbuild';
import fastify from 'fastify';

const LICENCE =
  '/*! The editor of rules, with CodeMirror and Lezer: copyright (C) 2018-2024 by Marijn Haverbeke and others, MIT licence, https://codemirror.net */';

/** The editor of rules with all that it imports. */
async function bundleEditor(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ['packages/rules-editor/rules-editor.ts'],
    absWorkingDir: `${import.meta.dirname}/..`,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2023',
    banner: { js: LICENCE },
  });
  return outputFiles[0]?.text ?? '';
}

/** Scalar as its plugin for fastify serves it: the only package that has it built without 280 others. */
async function readScalar(): Promise<string> {
  const app = fastify();
  await app.register(scalar, { routePrefix: '/reference', configuration: { url: '/openapi.json' } });
  const { body } = await app.inject('/reference/js/scalar.js');
  await app.close();
  const licence =
    '/*! The Scalar API reference: copyright (c) 2023-present Scalar, MIT licence, https://scalar.com */\n';
  return licence + body.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n');
}

/** By the file that holds each, compressed. */
export const BUNDLES: ReadonlyMap<string, () => Promise<string>> = new Map([
  ['packages/console/src/assets/rules-editor.js.gz', bundleEditor],
  ['src/http/pages/assets/scalar.js.gz', readScalar],
]);
