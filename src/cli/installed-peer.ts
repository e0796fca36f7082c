import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { findPrebuiltPeer, type PrebuiltPeer } from './prebuilt-peer.mjs';

/** The peer in Rust that is installed beside this command, as an optional package of it. */
export function installedPeer(): PrebuiltPeer | undefined {
  return findPrebuiltPeer({
    version: packageJson.version,
    folders: [fileURLToPath(new URL('.', import.meta.url))],
  });
}
