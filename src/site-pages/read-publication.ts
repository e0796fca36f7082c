import { mostPublicationBytes, type Publication, parsePublication } from '../gateway/state/publications.ts';
import { PeerUrl } from '../peer-url.ts';
import { sanitizeText } from '../util/sanitize-text.ts';
import { MoveProblem } from './move-port.ts';

const mostTitleCharacters = 200;

/**
 * Reads a publication of another library. A stranger may have made it, so nothing in it is trusted: titles become plain
 * text, and peers that are not valid are left out.
 * @param id of the publication that was requested.
 * @throws MoveProblem `TOO_LARGE` or `CORRUPT`, or AntwayError `REFUSED`.
 */
export async function readPublication(json: Blob, id: string, now = Date.now()): Promise<Publication> {
  if (json.size > mostPublicationBytes) {
    throw new MoveProblem('TOO_LARGE', `A publication has at most ${mostPublicationBytes} bytes.`);
  }
  const publication = parsePublication(parseJson(await json.text()));
  if (publication.id !== id) {
    throw new MoveProblem('CORRUPT', `This is the publication ${publication.id}, another one.`);
  }
  const { title, name, peers, publishedAt } = publication;
  return {
    ...publication,
    title: sanitizeText(title, mostTitleCharacters) || sanitizeText(name, mostTitleCharacters),
    peers: peers.flatMap(validPeer),
    // The clock of the other device may be ahead.
    publishedAt: Math.min(publishedAt, now),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MoveProblem('CORRUPT', 'This publication is not JSON.');
  }
}

/** The library names its peers in full, so that they mean the same at another origin. */
function validPeer(url: string): string[] {
  try {
    return [String(PeerUrl.parse(url))];
  } catch {
    return [];
  }
}
