import { mkdirSync, rmSync } from 'node:fs';
import { albumFolder } from './album.ts';

/** Before the first picture: removes the pictures of the last run. */
export default function emptyAlbum(): void {
  rmSync(albumFolder, { recursive: true, force: true });
  mkdirSync(albumFolder, { recursive: true });
}
