import type { Scenario } from '../scenario.ts';
import { antTpSmall, antTpTarchive } from './anttp.ts';
import { codec, encrypt } from './codec.ts';
import { boot, coldOpen } from './first-byte.ts';
import { bigFileX4, largeFile, memory } from './large-file.ts';
import { longTasks } from './long-tasks.ts';
import { rangeSeek } from './range-seek.ts';
import { concurrency, manySmall, smallPayload } from './small.ts';
import { store } from './store.ts';
import { treePublish } from './tree-publish.ts';

/** All of them, in the order in which they run. */
export const scenarios: readonly Scenario[] = [
  antTpSmall,
  antTpTarchive,
  smallPayload,
  concurrency,
  manySmall,
  treePublish,
  largeFile,
  bigFileX4,
  rangeSeek,
  coldOpen,
  boot,
  memory,
  longTasks,
  codec,
  store,
  encrypt,
];
