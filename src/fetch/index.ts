export { type AntAttempt, AntError, type AntErrorCode } from './ant-error.ts';
export { createAntFetch } from './create-ant-fetch.ts';
export type {
  AntArchive,
  AntEntry,
  AntFetch,
  AntFetchInit,
  AntFetchOptions,
  AntFile,
  AntInput,
  AntProgress,
  AntReadInit,
  AntStore,
  AntStoreOption,
  AntStreamInit,
} from './types.ts';
