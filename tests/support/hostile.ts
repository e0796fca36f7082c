import { hostilePeer } from './paths.ts';
import type { PeerOptions } from './peer-process.ts';

/** The faults by which a peer sends other bytes than those of the chunk, with what it does then. */
export const lies = {
  flip: 'flips a byte',
  wrong: 'sends another chunk',
  short: 'leaves out the second half',
  junk: 'sends 5 MiB of junk',
};

/** A peer with a fault. @param flags more flags of `peer/examples/hostile_peer`. */
export function hostile(fault: string, ...flags: string[]): PeerOptions {
  return { binary: hostilePeer, flags: ['--fault', fault, ...flags] };
}
