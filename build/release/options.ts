import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root, SetupError } from '../../src/cli/setup.mjs';
import { type PeerTarget, peerTargets } from '../peer-packages.ts';

/**
 * - `--out <folder>`: where the files go, `.antway/release` if not given. It is emptied.
 * - `--tag v1.2.3`: the release must have this version, and the changelog a section of it.
 * - `--target <triple>`: with the peer for this target of Rust; repeated for more. All targets if not given.
 * - `--bundles-only`: without the peer.
 * - `--verify`: builds twice, and compares.
 * - `--no-sbom`: without the bills of materials.
 */
const flags = {
  out: { type: 'string', default: join(root, '.antway/release') },
  tag: { type: 'string' },
  target: { type: 'string', multiple: true },
  'bundles-only': { type: 'boolean', default: false },
  verify: { type: 'boolean', default: false },
  'no-sbom': { type: 'boolean', default: false },
} as const;

export interface Options {
  out: string;
  tag: string | undefined;
  /** None for the bundles only. */
  targets: readonly PeerTarget[];
  verify: boolean;
  sbom: boolean;
}

/** @throws SetupError */
export function readOptions(args: readonly string[]): Options {
  try {
    const { values } = parseArgs({ args: [...args], options: flags });
    const { target, 'bundles-only': isBundlesOnly } = values;
    if (target && isBundlesOnly) throw new Error('--bundles-only builds for no target.');
    const triples = peerTargets.map(({ triple }) => triple);
    const unknown = target?.find((triple) => !triples.includes(triple));
    if (unknown !== undefined)
      throw new Error(`There is no target ${unknown}; there are ${triples.join(', ')}.`);
    return {
      out: resolve(values.out),
      tag: values.tag,
      targets: isBundlesOnly ? [] : peerTargets.filter(({ triple }) => target?.includes(triple) ?? true),
      verify: values.verify,
      sbom: !values['no-sbom'],
    };
  } catch (error) {
    throw new SetupError((error as Error).message);
  }
}
