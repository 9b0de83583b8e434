// The commands of docs/operating/install.md by which a platform team gets image and chart into its own registry.

import { shellBlocks } from '../../kit/shell-blocks.ts';

const GUIDE = 'docs/operating/install.md';
/** Of the guide, which a test replaces with its own. */
const GUIDE_REGISTRY = 'registry.example.com';
/** Where releases are pushed to. */
const PUBLIC_REGISTRY = 'ghcr.io';

const blockWith = (command: string): string => {
  const [block, ...others] = shellBlocks(GUIDE).filter((each) => each.includes(command));
  if (block === undefined || others.length > 0) throw new Error(`${GUIDE} does not run "${command}" once.`);
  return block;
};

/** Packages the chart and pushes it to that registry, in plain HTTP. For a folder with the scripts of the checkout. */
export const packagingCommands = (registry: string): string =>
  blockWith('package-chart.ts')
    .replaceAll(GUIDE_REGISTRY, registry)
    .replace(/^helm push .*$/m, '$& --plain-http')
    .replace(/^(npx )?node /m, `"${process.execPath}" `);

/** Copies a release to that registry, from another one. `version` is the release. */
export const mirrorCommands = (from: string, to: string, version: string): string =>
  blockWith('crane copy')
    .replaceAll(PUBLIC_REGISTRY, from)
    .replaceAll(GUIDE_REGISTRY, to)
    .replace(/^VERSION=.*$/m, `VERSION=${version}`)
    .replaceAll(/^helm (?:pull|push) .*$/gm, '$& --plain-http')
    .replace(/^crane copy .*$/m, '$& --insecure');
