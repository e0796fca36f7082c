export { type AntAttempt, AntError, type AntErrorCode } from '../fetch/ant-error.ts';
export { createPublisher } from './create-publisher.ts';
export type {
  AntBytes,
  AntChunk,
  AntDirectoryHandle,
  AntFileHandle,
  AntInputFile,
  AntPointer,
  AntPointerInit,
  AntPublished,
  AntPublisher,
  AntPublisherOptions,
  AntPublishInit,
  AntPublishInput,
  AntPublishProgress,
  AntSignInit,
  AntSink,
  AntSource,
  AntWholeSink,
} from './types.ts';
