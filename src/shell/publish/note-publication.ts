import { type Publication, publications } from '../../gateway/state/publications.ts';
import { sanitizeText } from '../../util/sanitize-text.ts';
import { GatewayApiError } from '../gateway-api.ts';
import { publishedTexts } from '../texts/published.ts';
import type { PublishAnswer } from './messages.ts';
import type { Picked } from './pick.ts';

/** How much of a page is searched for its title, in bytes. */
const titleBytes = 64 * 1024;
const mostTitleCharacters = 200;
const mostNameCharacters = 1_000;

export interface PublicationInput {
  picked: Picked;
  peers: readonly string[];
  isPrivate: boolean;
  result: Extract<PublishAnswer, { type: 'published' }>;
  /** The id of the stored manifest. Null for public content, or if the manifest could not be stored. */
  id: string | null;
  /** The publication that this one is a newer version of. */
  replaces: Publication | null;
}

/**
 * Adds a publication to the list.
 * @returns whether the replaced publication has the same content.
 * @throws GatewayApiError `REFUSED` without a stored manifest of private content; the errors of `Publications.add`.
 */
export async function noteDone(input: PublicationInput): Promise<boolean> {
  const { picked, peers, isPrivate, result, replaces } = input;
  const id = isPrivate ? input.id : result.address;
  if (id === null) throw new GatewayApiError('REFUSED', publishedTexts().noManifest, { isTranslated: true });
  await publications.add({
    id,
    isPrivate,
    isFolder: picked.isFolder,
    title: (await titleIn(picked)) || sanitizeText(picked.name, mostTitleCharacters),
    name: picked.name.slice(0, mostNameCharacters),
    files: picked.files.length,
    bytes: picked.bytes,
    chunks: result.uploaded,
    peers: [...peers],
    publishedAt: Date.now(),
    replaces: replaces && replaces.id !== id ? replaces.id : null,
  });
  return replaces?.id === id;
}

/** The title of a folder's start page. Empty if there is none. */
async function titleIn({ files, isFolder }: Picked): Promise<string> {
  const index = isFolder && files.find(({ path }) => path === 'index.html');
  if (!index) return '';
  const html = await index.file.slice(0, titleBytes).text();
  // The parser runs no script and loads nothing.
  const { title } = new DOMParser().parseFromString(html, 'text/html');
  return sanitizeText(title, mostTitleCharacters);
}
