import { boot } from './boot.ts';
import { connection } from './connection.ts';
import { errors } from './errors.ts';
import { frame } from './frame.ts';
import { library } from './library.ts';
import { live } from './live.ts';
import { move } from './move.ts';
import { open } from './open.ts';
import { publish } from './publish.ts';
import { reader } from './reader.ts';
import { settings } from './settings.ts';

/** All texts of the shell in English, by screen. The type `Texts` ensures that other languages have the same keys. */
export const en = {
  ...frame,
  errors,
  boot,
  connection,
  open,
  library,
  live,
  move,
  publish,
  reader,
  settings,
};

/** The type of a catalogue. A missing or unknown key fails the type check. */
export type Texts = typeof en;
