import { createTarchive } from '../../src/archive/create-tar.ts';
import { listFolder } from '../../src/cli/folder.ts';
import { makePrivateManifest } from '../support/manifests.ts';
import { fromRoot } from '../support/paths.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import type { Files } from '../support/tar.ts';
import { makeTarchive } from '../support/tarchive.ts';

/** Publishes the sample site. @returns its entry of a host's configuration. */
export async function publishSample(peer: PeerProcess) {
  const { entries } = await listFolder(fromRoot('tests/sites/sample'), []);
  const address = await publish(createTarchive(entries), peer);
  const pictures = { icon: 'assets/img/limpet.svg', cover: 'assets/img/shore.svg' };
  return { title: 'Low Tide', address, description: 'A pocket guide to a rocky shore', ...pictures };
}

/** Sites of one page with an icon, by title, and their descriptions. */
const smallSites = {
  'Field notes': ['#4d8a63', 'What grows beside a path'],
  'The lighthouse keeper’s log': ['#3e6a9e', 'Weather, ships and visitors, from 1897 to 1931'],
  'Odds and ends of a very long title that does not fit into any card': [
    '#c47d13',
    'A drawer of small things',
  ],
  Bookbinding: ['#8a4d6b', 'Six bindings for beginners'],
} as const;

const icon = (colour: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="${colour}"/><circle cx="8" cy="8" r="4" fill="#fff8"/></svg>`;

/** @returns entries of a catalogue. */
export function publishSmallSites(peer: PeerProcess) {
  return Promise.all(
    Object.entries(smallSites).map(async ([title, [colour, description]]) => {
      const page = `<!doctype html><title>${title}</title><link rel="icon" href="icon.svg"><h1>${title}</h1><p>${description}.</p>`;
      const files: Files = { 'index.html': page, 'icon.svg': icon(colour) };
      return {
        title,
        address: await publish(await makeTarchive(files), peer),
        description,
        icon: 'icon.svg',
      };
    }),
  );
}

export const publishLetter = (peer: PeerProcess) =>
  publish(Buffer.from('Dear reader,\n\nthe tide is out.\n'), peer);

/** The manifest of private files with the name “Diary”. */
export const makeDiary = (peer: PeerProcess) =>
  makePrivateManifest('Diary', { 'monday.txt': 'Fog again.', 'tuesday.txt': 'Sun.' }, peer);
