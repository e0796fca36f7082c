import { isLocalHost } from './local-host.ts';

/** The content of a link: public content by its address, private content by its manifest. */
export interface Shared {
  /** 64 hex characters. */
  address: string;
  /** The encoded path below the address, with a leading slash; may contain a query and a fragment. */
  path: string;
  /** The manifest of private content, as unpadded base64url. Null for public content. */
  manifest: string | null;
}

export type ShareKind = 'gateway' | 'public' | 'ant' | 'address' | 'embed';

export interface ShareLink {
  kind: ShareKind;
  text: string;
}

export interface ShareLinks {
  /** The link that works in most places. */
  main: ShareLink;
  /** Whether the link of this gateway works only on this computer or in its network. */
  isLocal: boolean;
  others: ShareLink[];
}

/**
 * @param origin of this gateway.
 * @param publicGateways origins of the host's configuration, most preferred first.
 */
export function shareLinksOf(
  { address, path, manifest }: Shared,
  origin: string,
  publicGateways: readonly string[],
): ShareLinks {
  const isLocal = isLocalHost(new URL(origin).hostname);
  const own: ShareLink = { kind: 'gateway', text: gatewayLink({ address, path, manifest }, origin) };
  const publicLinks = publicGateways
    .filter((gateway) => gateway !== origin)
    .map((gateway): ShareLink => {
      return { kind: 'public', text: gatewayLink({ address, path, manifest }, gateway) };
    });
  const ant: ShareLink = {
    kind: 'ant',
    text: manifest === null ? `ant://${address}${path}` : `ant://manifest/${manifest}`,
  };
  const [main, ...rest] = isLocal ? [...publicLinks, ant, own] : [own, ...publicLinks, ant];
  // Without scripts of the gateway, a page can embed public content only.
  const more: ShareLink[] =
    manifest === null
      ? [
          { kind: 'address', text: address },
          { kind: 'embed', text: embedSnippet(`ant://${address}${path}`) },
        ]
      : [];
  return { main: main!, isLocal, others: [...rest, ...more] };
}

/** Browsers never send the fragment with the manifest of private content to a server. @param origin of a gateway. */
export function gatewayLink({ address, path, manifest }: Shared, origin: string): string {
  if (manifest === null) return `${origin}/${address}${path}`;
  return `${origin}/#manifest/${manifest}${path === '/' ? '' : path}`;
}

/** The page that embeds it needs the script of docs/how-to/embed-in-a-site.md. */
function embedSnippet(link: string): string {
  const source = link.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const file = /[^/]\.(\w+)([?#]|$)/.exec(link)?.[1]?.toLowerCase() ?? '';
  if (/^(png|jpe?g|gif|webp|avif|svg)$/.test(file)) return `<img src="${source}" alt="">`;
  if (/^(mp4|webm|ogv|mov)$/.test(file)) return `<video src="${source}" controls></video>`;
  if (/^(mp3|ogg|oga|opus|flac|wav|m4a)$/.test(file)) return `<audio src="${source}" controls></audio>`;
  return `<iframe src="${source}" title=""></iframe>`;
}
