import { type AntError, createAntFetch } from '@antway/fetch';
import { type Asked, run } from './fetch-program.js';

/** The first visit: everything of the program, then a read into the store of the page. */
export async function firstVisit(asked: Asked, pointer: string) {
  const results = await run(asked);
  const antFetch = createAntFetch({ peers: [asked.peer], store: 'indexeddb' });
  const film = await antFetch.open(asked.film);
  if (film.kind !== 'file') throw new TypeError('It is no file.');
  const first = (await film.read(0, 5_000_000)).length;
  const pointed = await (await antFetch(`ant://${pointer}/name.txt`)).text();
  const opened = await antFetch.open(pointer);
  await antFetch.close();
  return { ...results, first, pointed, pointsTo: opened.address };
}

/** Reads from nodes, without a peer. @param nodes the multiaddresses of some nodes. */
export async function readFromNodes(nodes: readonly string[], address: string, range?: string) {
  const antFetch = createAntFetch({ nodes, store: 'memory' });
  try {
    const response = await antFetch(address, range === undefined ? {} : { headers: { Range: range } });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    const sha256 = Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return { status: response.status, size: bytes.length, sha256 };
  } catch (error) {
    return { status: (error as AntError).status, size: 0, sha256: '' };
  } finally {
    await antFetch.close();
  }
}

/** Whether a client for the main network can be made and closed, which connects to nothing. */
export async function makeForMainnet(): Promise<boolean> {
  await createAntFetch({ nodes: 'mainnet' }).close();
  return true;
}

/** A later visit, with peers that do not answer. */
export async function laterVisit(peer: string, film: string) {
  const antFetch = createAntFetch({ peers: [peer] });
  const opened = await antFetch.open(film);
  if (opened.kind !== 'file') throw new TypeError('It is no file.');
  const bytes = await opened.read(100, 110);
  const code = await antFetch('cd'.repeat(32)).catch((error: AntError) => error.code);
  await antFetch.close();
  return { bytes: Array.from(bytes), code };
}
