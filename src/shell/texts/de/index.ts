import type { Texts } from '../en/index.ts';
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

export const de: Texts = {
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
