import { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { LeftName } from '../names/name-changes.ts';
import { type NameList, parseNameList } from '../names/name-list.ts';
import { ContentReader } from './open-content.ts';
import type { CommandSettings } from './settings.ts';

/**
 * Reads a list of names from the peers.
 * @throws AntwayError `UNSUPPORTED` if the address has no list; as `parseNameList` and `ContentReader.open`.
 */
export async function readNameList(
  address: Address,
  { peers }: Pick<CommandSettings, 'peers'>,
  isSilent: boolean,
  signal: AbortSignal,
): Promise<NameList & { left: LeftName[] }> {
  const target = { address, paths: [''], filename: undefined, peers, manifest: undefined };
  const reader = new ContentReader(target, { from: undefined, isSilent, signal });
  try {
    const opened = await reader.open();
    if (opened.kind !== 'file') {
      throw new AntwayError('UNSUPPORTED', 'A list of names is a JSON file. This address is a site.', {
        address: address.hex,
      });
    }
    const { source } = opened;
    // One byte more than a list may have tells that it is too large.
    return parseNameList(await source.read(0, Math.min(source.size, limits.listBytes + 1), signal));
  } finally {
    reader.close();
  }
}

/**
 * The address of `<name>@<label>`. Only the configuration file says which list the label means.
 * @throws AntwayError `NOT_FOUND` for an unknown label or name; as `readNameList`.
 */
export async function addressInList(
  name: string,
  label: string,
  settings: CommandSettings,
  isSilent: boolean,
  signal: AbortSignal,
): Promise<Address> {
  const list = settings.nameLists.get(label);
  if (!list) {
    const where = settings.file ?? 'the configuration file, which does not exist';
    throw new AntwayError('NOT_FOUND', `There is no list of names “${label}” in ${where}.`);
  }
  const { names } = await readNameList(list, settings, isSilent, signal);
  if (Object.hasOwn(names, name)) return Address.fromHex(names[name]!);
  throw new AntwayError('NOT_FOUND', `The list “${label}” has no name “${name}”.`, { address: list.hex });
}
