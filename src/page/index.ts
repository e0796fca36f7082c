export { DropInError, type DropInErrorCode } from '../drop-in/error.ts';
export type { DropInOptions } from '../drop-in/options.ts';
export { AntError, type AntErrorCode } from '../fetch/ant-error.ts';
export type { PinState } from '../library/pin-state.ts';
export type { ServerConfig } from '../server-config.ts';
export type { StatsSnapshot } from '../stats/stats.ts';
export { createAntway } from './create-antway.ts';
export type {
  AntEvents,
  AntEventType,
  AntExportInit,
  AntImported,
  AntManifest,
  AntPeer,
  AntPin,
  AntPinInit,
  AntReference,
  AntwayPage,
} from './types.ts';
