import { readFileSync } from 'node:fs';
import { fromRoot } from './paths.ts';
import { noise } from './publish.ts';
import { makeTarchive } from './tar.ts';

/** Files of the site, to compare with. */
export const keptFiles = {
  'seen.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>',
  'film.webm': readFileSync(fromRoot('tests/sites/sample/media/waves.webm')),
};

export const seenText = 'This page was seen.';

/** A site, as a tarchive, whose page `unseen.html` lies in a chunk that nothing else needs. */
export function makeKeptSite(folder: string): Buffer {
  return makeTarchive(folder, {
    'index.html': `<title>Kept</title><p>${seenText}</p><a href="more.html">More</a><img src="seen.svg" alt=""><script src="run.js"></script>`,
    'more.html': '<title>More</title><p>And this one too.</p><a href="./">Back</a>',
    'run.js': 'document.title = "Scripted"',
    'film.html': '<title>Film</title><video src="film.webm" muted></video>',
    ...keptFiles,
    'first.bin': noise(7, 19_000_000),
    'unseen.html': '<p>This page was not seen.</p>',
    'second.bin': noise(8, 4_200_000),
  });
}
