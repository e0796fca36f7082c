export { type AntAttempt, AntError, type AntErrorCode } from '../fetch/ant-error.ts';
export { createPublisher } from './create-publisher.ts';
export type {
  AntBytes,
  AntChunk,
  AntContent,
  AntDirectoryHandle,
  AntEntry,
  AntFileHandle,
  AntPointer,
  AntPointerInit,
  AntPublished,
  AntPublisher,
  AntPublisherOptions,
  AntPublishInit,
  AntPublishProgress,
  AntSignInit,
  AntSink,
  AntSource,
  AntWholeSink,
} from './types.ts';
