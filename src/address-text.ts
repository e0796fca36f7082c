import { Address } from './address.ts';
import { isLoopback } from './peer-url.ts';

/** The content that a text names. All its parts are as the text spells them. */
export interface NamedContent {
  /**
   * The content's address, or a name: `<name>` of a gateway, `~<name>` of the user, `<name>@<list>` of a list. A name
   * that a program has to know is not checked further.
   */
  site: Address | string;
  /** The text after the address or name: empty, or a path, a query and a fragment that begin with `/`, `?` or `#`. */
  rest: string;
  /** Whether the text has a scheme, so that `rest` has percent-encoding. */
  isUrl: boolean;
  /** The origin of the gateway in the text, such as `https://gateway.example`. */
  gateway: string | undefined;
}

export type AddressText =
  | NamedContent
  /** A complete manifest as unpadded base64url, and a path in it that is empty or begins with a slash. */
  | { manifest: string; rest: string }
  | { problem: 'empty' | 'scheme' | 'noAddress'; text: string };

const namePattern = /^~?[\p{L}0-9][\p{L}\p{M}0-9._-]{0,99}(?:@[\p{L}0-9][\p{L}\p{M}0-9._-]{0,99})?$/u;

/**
 * Parses every form in which Antway, AntTP and the browser extension print content: `<address>`, `<address>/path`,
 * `ant://…`, `autonomi://…`, `web+ant:…`, `ant://manifest/<base64url>`, names, and URLs of gateways. A URL has the
 * address as a segment of its path, as a label of its host, or behind `#view=`, `#read=`, `#open=` or `#manifest/`.
 * An address is 64 hex digits, or 52 characters of base32. Behind `~<name>` and `<name>@<list>` nothing is an address.
 * No text makes this function throw.
 */
export function parseAddressText(text: string): AddressText {
  return parse(text, false);
}

/** @param isInner whether the text comes from a fragment, which is read in one level only. */
function parse(text: string, isInner: boolean): AddressText {
  // Browsers pass protocol links unchanged, with or without the slashes.
  const input = text.trim().replace(/^(?:web\+ant|autonomi|ant):(?:\/\/)?(?:ant:\/\/)?/i, 'ant://');
  if (input === '') return { problem: 'empty', text: input };
  const [, manifest, path = ''] =
    /^(?:ant:\/\/|https?:\/\/[^#]*#)manifest\/([^/]*)(\/.*)?$/is.exec(input) ?? [];
  if (manifest !== undefined) return { manifest, rest: path };

  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(input)?.[1]?.toLowerCase();
  const isWeb = scheme === 'http' || scheme === 'https';
  if (scheme && !isWeb && scheme !== 'ant') return { problem: 'scheme', text: `${scheme}://` };
  const isUrl = scheme !== undefined;
  const body = input.slice(isUrl ? scheme.length + 3 : 0).replace(/^\//, '');
  const gatewayAt = (host: string) => originOf(isWeb ? scheme : undefined, host);

  const [host = ''] = segmentsOf(body);
  const start = isWeb ? body.slice(host.length).replace(/^\//, '') : body;
  const [spelled = ''] = segmentsOf(start);
  const name = (isUrl ? decoded(spelled) : spelled).normalize('NFC');
  const isName = namePattern.test(name);
  // Behind a name of the user or of a list comes a path of its site. A stranger could put an address there.
  const isPrivateName = isName && /[~@]/.test(name);
  if (isWeb || (host.includes('.') && !isPrivateName)) {
    const shown = isWeb && !isInner ? shownInApp(body) : undefined;
    if (shown) return { ...shown, isUrl, gateway: gatewayAt(host) };
    const label = labelOf(host);
    if (label) {
      // A site's own origin has the content of other addresses too.
      const other = /^[^/]*\/-\/content\/([^/?#]+)(.*)$/s.exec(body);
      const address = (other && addressOf(other[1]!)) || label.address;
      const rest = other && addressOf(other[1]!) ? other[2]! : body.slice(host.length);
      return { site: address, rest, isUrl, gateway: gatewayAt(label.parent) };
    }
  }
  const found = isPrivateName ? undefined : firstAddress(body);
  if (found) {
    const { address, rest, isFirst } = found;
    return { site: address, rest, isUrl, gateway: isFirst ? undefined : gatewayAt(host) };
  }
  if (!isName) return { problem: 'noAddress', text: spelled };
  const rest = start.slice(spelled.length);
  return { site: name, rest, isUrl, gateway: isWeb ? gatewayAt(host) : undefined };
}

/** The address in hex or canonical base32, in either case. */
function addressOf(segment: string): Address | undefined {
  if (Address.isHex(segment)) return Address.fromHex(segment);
  // 52 characters are 260 bits for a 256-bit address. The last character must leave the four spare bits zero.
  return /^[a-z2-7]{51}[aq]$/i.test(segment) ? Address.fromBase32(segment) : undefined;
}

/** The segments before the query and the fragment. */
function segmentsOf(text: string): string[] {
  return text.replace(/[?#].*$/s, '').split('/');
}

/** In base32, only the first segment can be an address: longer paths may have such a word by chance. */
function firstAddress(body: string): { address: Address; rest: string; isFirst: boolean } | undefined {
  let at = 0;
  for (const [i, segment] of segmentsOf(body).entries()) {
    const address = i === 0 || Address.isHex(segment) ? addressOf(segment) : undefined;
    if (address) return { address, rest: body.slice(at + segment.length), isFirst: i === 0 };
    at += segment.length + 1;
  }
  return undefined;
}

/** The address in `<base32>.gateway.example` or `<hex>.gateway.example`, and the host without the label. */
function labelOf(host: string): { address: Address; parent: string } | undefined {
  const labels = host.replace(/:\d+$/, '').split('.');
  for (const [i, label] of labels.entries()) {
    const address = addressOf(label);
    if (!address) continue;
    return { address, parent: labels.slice(i + 1).join('.') + (/:\d+$/.exec(host)?.[0] ?? '') };
  }
  return undefined;
}

/** The content that a screen of the app shows. Its fragment contains the path at the gateway. */
function shownInApp(body: string): { site: Address | string; rest: string } | undefined {
  const [, key, value = ''] = /^[^/]*\/?(?:index\.html)?#(view|read|open)=(.+)$/s.exec(body) ?? [];
  if (!key) return undefined;
  const inner = parse(key === 'open' ? decoded(value) : value, true);
  return 'site' in inner ? { site: inner.site, rest: inner.rest } : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Without a scheme, `http` is for this machine, as in `localhost:8080/<address>`. */
function originOf(scheme: string | undefined, host: string): string | undefined {
  if (!host || !URL.canParse(`http://${host}`)) return undefined;
  const isLocal = isLoopback(new URL(`http://${host}`));
  return new URL(`${scheme ?? (isLocal ? 'http' : 'https')}://${host}`).origin;
}

export interface NamedPath {
  /** Possible meanings of the path in an archive, most likely first. `''` is the root, and also means no path. */
  paths: string[];
  /** The file name that the text suggests; not checked. */
  filename: string | undefined;
}

/** @param rest the text after the address. Only URLs have percent-encoding for sure. */
export function pathOf(rest: string, isUrl: boolean): NamedPath {
  const [, path = '', query = ''] = /^([^?#]*)(?:\?([^#]*))?/s.exec(rest) ?? [];
  const inUrl = decoded(path.replace(/^\//, ''));
  const literal = rest.replace(/^\//, '');
  const paths = isUrl ? [inUrl] : [literal, inUrl];
  const fields = new URLSearchParams(query);
  const last = inUrl.split('/').findLast((segment) => segment !== '');
  return {
    paths: [...new Set(paths)],
    filename: fields.get('filename') ?? fields.get('name') ?? last,
  };
}
