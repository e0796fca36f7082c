import { boot } from './boot.ts';
import { errors } from './errors.ts';
import { frame } from './frame.ts';
import { library } from './library.ts';
import { live } from './live.ts';
import { move } from './move.ts';
import { open } from './open.ts';
import { publish } from './publish.ts';
import { settings } from './settings.ts';

/** Everything that the shell says, in English, by screen. Other languages have the same keys: `Texts` makes it so. */
export const en = { ...frame, errors, boot, open, library, live, move, publish, settings };

/** What every catalogue has. A key that is missing or not known fails the type check. */
export type Texts = typeof en;
