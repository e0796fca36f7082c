import * as v from 'valibot';
import { Address, hexAddress } from '../../address.ts';
import { AntwayError } from '../../errors.ts';
import { iterations } from '../../owner/iterations.ts';
import { type MovablePointer, mostLabelCharacters } from '../../owner/owned-pointers.ts';
import { OwnerStates } from '../../owner/states.ts';
import * as s from '../../schema.ts';
import type { TakeOverProblem } from '../../site-pages/take-over.ts';
import { sanitizeText } from '../../util/sanitize-text.ts';
import { asGatewayApiError } from '../gateway-api.ts';
import { type SiteIsolation, siteIsolation } from '../origins/site-isolation.ts';
import { ownedPointers } from '../pointers/owned.ts';

/** A pointer of the user with its key, which is still encrypted with its passphrase. */
export interface BackupPointer extends Omit<MovablePointer, 'address'> {
  /** In hex. */
  address: string;
}

const mostPointers = 1_000;
/** Each move adds about 200 bytes. */
const mostStatesCharacters = 1_000_000;

const hex = (bytes: number) => s.pattern(new RegExp(`^[0-9a-f]{${2 * bytes}}$`), `it must be ${bytes} bytes`);

/** The input of a stranger. `checkPointers` checks the states. */
export const pointerList = s.list(
  s.object({
    address: v.pipe(hexAddress, v.toLowerCase()),
    label: v.pipe(
      v.string(),
      v.transform((label) => sanitizeText(label, mostLabelCharacters)),
    ),
    states: v.nullable(v.pipe(v.string(), v.maxLength(mostStatesCharacters))),
    key: s.object({
      // More rounds could take minutes.
      iterations: v.pipe(s.integer('rounds'), v.minValue(iterations.least), v.maxValue(iterations.most)),
      salt: hex(16),
      nonce: hex(12),
      wrapped: hex(48),
      deviceSecret: hex(32),
    }),
  }),
  mostPointers,
);

/** Leaves out pointers that are listed twice, or whose states are not theirs. Adds the reasons to `refused`. */
export function checkPointers(
  offered: readonly BackupPointer[],
  refused: { what: string; reason: string }[],
): BackupPointer[] {
  const seen = new Set<string>();
  return offered.filter(({ address, states }) => {
    try {
      if (seen.has(address)) throw new AntwayError('REFUSED', 'It is listed twice.');
      seen.add(address);
      if (states !== null) OwnerStates.fromJson(states, Address.fromHex(address));
      return true;
    } catch (error) {
      refused.push({ what: address, reason: (error as Error).message });
      return false;
    }
  });
}

/**
 * The pointers of this browser, and the number of those whose keys cannot leave it.
 * @throws the errors of the database.
 */
export async function pointersHere(): Promise<{ pointers: BackupPointer[]; bound: number }> {
  const { pointers, bound } = await ownedPointers.movable();
  return { pointers: pointers.map((pointer) => ({ ...pointer, address: pointer.address.hex })), bound };
}

/** Adds pointers whose keys are not here. @returns their number. */
export async function restorePointers(
  pointers: readonly BackupPointer[],
  problems: TakeOverProblem[],
): Promise<number> {
  let restored = 0;
  for (const pointer of pointers) {
    try {
      requireOwnOrigins(await siteIsolation(new AbortController().signal));
      const address = Address.fromHex(pointer.address);
      if (await ownedPointers.addMovable({ ...pointer, address })) restored++;
    } catch (error) {
      const { code, message } = asGatewayApiError(error);
      problems.push({ what: pointer.address, code, message });
    }
  }
  return restored;
}

/** @throws AntwayError `REFUSED`, `HOST_UNREACHABLE` */
function requireOwnOrigins(isolation: SiteIsolation): void {
  if (isolation === 'shared') throw new AntwayError('REFUSED', 'Scripts of sites could use keys here.');
  if (isolation === 'unknown') {
    const message = 'The gateway’s host does not tell now whether scripts of sites could use keys here.';
    throw new AntwayError('HOST_UNREACHABLE', message);
  }
}
