import { useEffect, useRef } from 'preact/hooks';

/** Spreadsheets copy cells as a text and as a picture: this is no file. File managers add the file's name as a text. */
export function isFile(data: DataTransfer): boolean {
  const [file] = data.files;
  return file !== undefined && !(file.type.startsWith('image/') && data.getData('text/plain') !== '');
}

/** Handles a paste anywhere on the page: files always, a text only outside of a field. */
export function usePaste(take: (data: DataTransfer) => void): void {
  const newest = useRef(take);
  newest.current = take;
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const data = event.clipboardData;
      const isIntoField = event.target instanceof Element && event.target.closest('input, textarea') !== null;
      if (!data || (!isFile(data) && (isIntoField || data.getData('text/plain') === ''))) return;
      event.preventDefault();
      newest.current(data);
    };
    window.addEventListener('paste', paste);
    return () => window.removeEventListener('paste', paste);
  }, []);
}

/** `waiting` stores a file that the system opens while another screen is visible. */
const launched: { take: ((file: File) => void) | undefined; waiting: File | undefined } = {
  take: undefined,
  waiting: undefined,
};

/** See https://wicg.github.io/manifest-incubations/#launchqueue-interface. */
export function useLaunchedFiles(open: (file: File) => void, isReady: boolean): void {
  useEffect(() => {
    if (!isReady) return;
    launched.take = open;
    if (launched.waiting) open(launched.waiting);
    launched.waiting = undefined;
    (window as LaunchingWindow).launchQueue?.setConsumer(async ({ files }) => {
      const file = await files?.[0]?.getFile();
      if (!file) return;
      if (launched.take) launched.take(file);
      else launched.waiting = file;
    });
    return () => {
      launched.take = undefined;
    };
  }, [isReady]);
}

type LaunchingWindow = Window & {
  launchQueue?: {
    setConsumer(consumer: (launch: { files?: readonly FileSystemFileHandle[] }) => void): void;
  };
};
