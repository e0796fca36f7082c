import { Address } from '../address.ts';
import { parseAddressText, pathOf } from '../address-text.ts';
import { wholeManifestOfLink } from '../content/manifest.ts';
import { AntwayError } from '../errors.ts';
import { PeerUrl } from '../peer-url.ts';
import { loadBlake3 } from '../self-encryption/blake3.ts';
import { gatewayConfig } from './gateway-config.ts';
import { addressInList } from './name-lists.ts';
import { uniquePeers } from './options.ts';
import { type CommandSettings, namesOf, peersOf } from './settings.ts';

/** The content that the user names, and the peers that can have it. */
export interface CliTarget {
  address: Address;
  /** Possible meanings of the path in an archive, most likely first. `''` is the root, and also means no path. */
  paths: string[];
  /** The file name that the text suggests; not checked. */
  filename: string | undefined;
  peers: PeerUrl[];
  /** The bytes of a manifest that is complete in the text. Its address is the hash of the bytes. */
  manifest: Uint8Array | undefined;
}

/**
 * Finds out what a text names. A name is looked up in the configuration file, then at the peers, or at the gateway in
 * the text. `~<name>` is a name of the configuration file only, and `<name>@<label>` one of the list with that label. A
 * gateway in the text also says which peers have the content, unless an option or variable names the peers.
 * @param isSilent whether late hosts are not reported.
 * @throws AntwayError `BAD_ADDRESS`, `NOT_FOUND` for an unknown name, `PEERS_UNREACHABLE` or `HOST_UNREACHABLE`.
 */
export async function targetOf(
  text: string,
  settings: CommandSettings,
  isSilent: boolean,
  signal: AbortSignal,
): Promise<CliTarget> {
  const named = parseAddressText(text);
  if ('problem' in named) throw badAddress(text, named.problem);
  if ('manifest' in named) {
    const manifest = wholeManifestOfLink(`ant://manifest/${named.manifest}`);
    const address = Address.fromBytes((await loadBlake3())(manifest));
    return { address, ...pathOf(named.rest, true), peers: settings.peers, manifest };
  }
  const { site, rest, isUrl, gateway } = named;
  const config = gateway === undefined ? undefined : await gatewayConfig(gateway, isSilent, signal);
  const peers = peersFor(gateway, config, settings);
  const address =
    site instanceof Address
      ? site
      : await addressOfName(site, text, { gateway, config, settings, isSilent, signal });
  return { address, ...pathOf(rest, isUrl), peers, manifest: undefined };
}

type GatewayConfig = Awaited<ReturnType<typeof gatewayConfig>>;

function peersFor(gateway: string | undefined, config: GatewayConfig, settings: CommandSettings): PeerUrl[] {
  // An unreachable gateway has no peers to offer.
  if (settings.isExplicit || gateway === undefined || config === undefined) return settings.peers;
  const offered = config ? peersOf(config, gateway) : [];
  const own = offered.length > 0 ? offered : asPeer(gateway);
  // The peer that is only a default may not run at all.
  return own.length > 0 && settings.file === undefined ? own : uniquePeers([...own, ...settings.peers]);
}

/** Hosts of gateways are usually peers. */
function asPeer(gateway: string): PeerUrl[] {
  try {
    return [PeerUrl.parse(gateway)];
  } catch {
    return []; // http on another machine
  }
}

async function addressOfName(
  name: string,
  text: string,
  context: {
    gateway: string | undefined;
    config: GatewayConfig;
    settings: CommandSettings;
    isSilent: boolean;
    signal: AbortSignal;
  },
): Promise<Address> {
  const { gateway, config, settings, isSilent, signal } = context;
  if (/[~@]/.test(name)) return addressOfUserName(name, text, context);
  if (gateway !== undefined) {
    const found = config && namesOf(config).get(name);
    if (found) return found;
    const why = config === undefined ? 'it does not answer' : `it has no name “${name}”`;
    const code = config === undefined ? 'HOST_UNREACHABLE' : 'NOT_FOUND';
    throw new AntwayError(code, `${gateway} cannot say which address “${text}” has: ${why}.`);
  }
  const own = settings.names.get(name);
  if (own) return own;
  const looksLikeAddress = /^(0x)?[0-9a-f]{16,}$/i.test(name) || name.length > 48;
  if (looksLikeAddress) throw badAddress(text, 'noAddress');
  const hosts = settings.peers.filter(({ kind }) => kind === 'antway');
  const configs = await Promise.all(hosts.map(({ origin }) => gatewayConfig(origin, isSilent, signal)));
  for (const host of configs) {
    const found = host && namesOf(host).get(name);
    if (found) return found;
  }
  if (hosts.length > 0 && configs.every((host) => host === undefined)) {
    const asked = hosts.map(({ id }) => id).join(', ');
    throw new AntwayError('PEERS_UNREACHABLE', `No peer at ${asked} can say which address “${text}” has.`);
  }
  throw new AntwayError(
    'NOT_FOUND',
    `“${text}” is neither an address (64 hex digits, or 52 characters of base32) nor a name of ${[settings.file, ...hosts].filter(Boolean).join(', ')}.`,
  );
}

/** A name that no gateway may decide about. @throws AntwayError `NOT_FOUND`; as `addressInList`. */
async function addressOfUserName(
  written: string,
  text: string,
  {
    gateway,
    settings,
    isSilent,
    signal,
  }: { gateway: string | undefined; settings: CommandSettings; isSilent: boolean; signal: AbortSignal },
): Promise<Address> {
  const [name = '', label] = written.replace(/^~/, '').split('@');
  if (gateway !== undefined) {
    const here = label ? `${name}@${label}` : `~${name}`;
    throw new AntwayError(
      'NOT_FOUND',
      `“${text}” has a name of the user of a browser, which only that browser knows. Give the address, or ${here} for a name of the configuration file.`,
    );
  }
  if (label !== undefined) return addressInList(name, label, settings, isSilent, signal);
  const found = settings.names.get(name);
  if (found) return found;
  const where = settings.file ?? 'the configuration file, which does not exist';
  throw new AntwayError('NOT_FOUND', `There is no name “${name}” in ${where}.`);
}

function badAddress(text: string, problem: 'empty' | 'scheme' | 'noAddress'): AntwayError {
  const expected = 'An address has 64 hex digits, or 52 characters of base32.';
  if (problem === 'empty') return new AntwayError('BAD_ADDRESS', `The address is empty. ${expected}`);
  const why =
    problem === 'scheme'
      ? 'is no link to content. Links begin with ant://, autonomi://, https:// or http://.'
      : `has no address and no name. ${expected}`;
  return new AntwayError('BAD_ADDRESS', `“${text}” ${why}`);
}
