import { Address } from '../../address.ts';
import { parseAddressText } from '../../address-text.ts';
import { type NameBook, written } from '../../names/name-book.ts';
import { texts } from '../texts/texts.ts';

/**
 * The meaning of a user's text: a path of this gateway, a complete manifest, or a problem. `isName` says whether the text
 * has a name in place of an address.
 */
export type AddressInput = { path: string; isName: boolean } | { manifestLink: string } | { problem: string };

interface AddressInputContext {
  names: NameBook;
  /** This gateway's origin, such as `https://gateway.example`. */
  origin: string;
}

/**
 * Parses text from the address box: every form that `parseAddressText` knows, and the known names. The result includes
 * the rest after the address (path, query, fragment). A name of the user or of a list becomes its address.
 */
export function parseAddressInput(text: string, { names, origin }: AddressInputContext): AddressInput {
  const { problems } = texts.open;
  const input = parseAddressText(text);
  // Decode the manifest only when it is opened: it can be long, and this function runs on every keystroke.
  if ('manifest' in input) return { manifestLink: `ant://manifest/${input.manifest}` };
  if ('problem' in input) {
    if (input.problem === 'scheme') return { problem: problems.scheme(input.text) };
    return { problem: input.problem === 'empty' ? problems.empty : problemOf(input.text) };
  }
  const { site, rest, gateway } = input;
  if (site instanceof Address) return pathWithin(site.hex, rest, false);
  if (gateway !== undefined && gateway !== origin) {
    // The names of other gateways are not known here. A site in the folder of a user, such as `/~ann/`, is one, too.
    const inner = parseAddressText(rest.replace(/^\//, ''));
    const isAddress = 'site' in inner && inner.site instanceof Address;
    return isAddress ? pathWithin(String(inner.site), inner.rest, false) : { problem: problems.noAddress };
  }
  // The URL of a gateway has the name of its host there.
  if (gateway !== undefined && !/[~@]/.test(site)) {
    return names.isOfHost(site) ? pathWithin(site, rest, true) : { problem: problemOf(site) };
  }
  const found = names.resolve(site);
  if (found.kind === 'conflict') {
    return { problem: problems.conflict(site, found.meanings.map(written).join(', ')) };
  }
  if (found.kind === 'unknown') {
    return { problem: /[~@]/.test(site) ? problems.unknownName(site) : problemOf(site) };
  }
  const { name, source, address } = found.meaning;
  return pathWithin(source.kind === 'host' ? name : address, rest, true);
}

/** @param rest a path, a query and a fragment. */
function pathWithin(site: string, rest: string, isName: boolean): AddressInput {
  // The URL parser resolves “..” in all of its spellings, and escapes invalid characters.
  const url = new URL(`/${site}${rest}`, 'https://gateway.invalid');
  if (url.pathname !== `/${site}` && !url.pathname.startsWith(`/${site}/`)) {
    return { problem: texts.open.problems.outside };
  }
  return { path: url.pathname + url.search + url.hash, isName };
}

function problemOf(text: string): string {
  const { problems } = texts.open;
  if (text === '') return problems.noAddress;
  if (/^[0-9a-f]{16,}$/i.test(text)) {
    return problems.digits(text.length);
  }
  if (text.length === 64) {
    return problems.character(/[^0-9a-f]/i.exec(text)![0]);
  }
  if (text.length > 40) return problems.long;
  return problems.neither(text);
}
