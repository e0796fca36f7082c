import { useEffect, useRef, useState } from 'preact/hooks';
import { manifestOfLink } from '../../content/manifest.ts';
import { Button } from '../button.tsx';
import { openContent } from '../content-link.tsx';
import { asGatewayApiError, type GatewayApiError, gateway } from '../gateway-api.ts';
import { ProblemText } from '../problem-text.tsx';
import { forgetIncoming, type Route } from '../route.ts';
import { texts } from '../texts/texts.ts';
import { useDrop } from '../use-drop.ts';
import { parseAddressInput } from './address-input.ts';
import { type BroughtManifest, ManifestQuestion } from './manifest-question.tsx';
import { openManifest } from './open-manifest.ts';

interface Props {
  /** Name → address of this gateway's bookmarks. */
  names: ReadonlyMap<string, string>;
  route: Route;
  /** Whether the gateway runs. Before that, input from outside the page cannot be opened. */
  isReady: boolean;
}

/** The address box. Opens typed, chosen, dropped or received input, or says why it cannot. */
export function AddressForm({ names, route: { manifest, incoming }, isReady }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  /** Problems are shown only after the first attempt, so that they do not disturb the user while typing. */
  const [wasTried, setWasTried] = useState(false);
  const [failure, setFailure] = useState<GatewayApiError | null>(null);
  const [isReading, setIsReading] = useState(false);
  /** A manifest from a link. It is stored only if the user agrees. */
  const [brought, setBrought] = useState<(BroughtManifest & { open: () => void }) | null>(null);
  const parsed = parse(text);
  const problem = wasTried && 'problem' in parsed ? parsed.problem : null;
  const isBad = failure !== null || problem !== null;
  const isOver = useDrop(['Files', 'text/uri-list', 'text/plain'], take);
  usePaste(take);

  function parse(newText: string) {
    return parseAddressInput(newText, { names: new Set(names.keys()), origin: location.origin });
  }

  function change(newText: string) {
    setText(newText);
    setFailure(null);
    setBrought(null);
  }

  function open(input: ReturnType<typeof parse>) {
    if ('path' in input) openContent(input.path);
    else if ('manifestLink' in input) keepAndOpen(() => new Blob([manifestOfLink(input.manifestLink)]));
    else refuse();
  }

  /** Opens a manifest from a link. Any page can link here, so this asks the user before it stores a new manifest. */
  async function askAndOpen(link: string, path?: string, isReplacing?: boolean) {
    setFailure(null);
    setIsReading(true);
    try {
      const bytes = manifestOfLink(link);
      const { isStored, name, entries } = await gateway.checkManifest(bytes);
      const open = () => {
        setBrought(null);
        return keepAndOpen(() => new Blob([bytes]), path, isReplacing);
      };
      if (isStored) await open();
      else setBrought({ name, entries, open });
    } catch (error) {
      setFailure(asGatewayApiError(error));
    }
    setIsReading(false);
  }

  function refuseBrought() {
    change('');
    forgetIncoming();
    // Make `useRoute` read the URL again.
    window.dispatchEvent(new PopStateEvent('popstate'));
    input.current?.focus();
  }

  function refuse() {
    setWasTried(true);
    input.current?.focus();
  }

  async function keepAndOpen(manifest: () => Blob, path?: string, isReplacing?: boolean) {
    setFailure(null);
    setIsReading(true);
    try {
      await openManifest(manifest(), path, isReplacing);
    } catch (error) {
      setFailure(asGatewayApiError(error));
    }
    setIsReading(false);
  }

  // Handle a link from another program, a shared text, or a link with a manifest like pasted text.
  useEffect(() => {
    if (incoming) change(incoming.text);
  }, [incoming]);
  /** The input that was opened last. A page that becomes visible again becomes ready again, and must not reopen it. */
  const opened = useRef<Route['incoming'] | Route['manifest']>(undefined);
  const isNew = (what: typeof opened.current) => {
    if (!isReady || !what || opened.current === what) return false;
    opened.current = what;
    return true;
  };
  useEffect(() => {
    if (!incoming || !isNew(incoming)) return;
    forgetIncoming();
    const what = parse(incoming.text);
    if ('manifestLink' in what) void askAndOpen(what.manifestLink);
    else open(what);
  }, [isReady, incoming]);
  useEffect(() => {
    if (!manifest || !isNew(manifest)) return;
    void askAndOpen(`ant://manifest/${manifest.text}`, manifest.path || '/', true);
  }, [isReady, manifest]);
  useLaunchedFiles((file) => {
    forgetIncoming();
    keepAndOpen(() => file);
  }, isReady);

  function choose(files: FileList | null) {
    const file = files?.[0];
    if (!file) return;
    change('');
    keepAndOpen(() => file);
  }

  function take(data: DataTransfer) {
    if (isFile(data)) {
      choose(data.files);
    } else {
      const given = (data.getData('text/uri-list') || data.getData('text/plain')).trim();
      change(given);
      open(parse(given));
    }
  }

  return (
    <form
      class="address-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        open(parsed);
      }}
    >
      <h1 tabIndex={-1}>
        <label for="address">{texts.open.title}</label>
      </h1>
      <div class="address-box">
        <input
          ref={input}
          id="address"
          type="text"
          inputMode="url"
          autocomplete="off"
          autocapitalize="none"
          autocorrect="off"
          spellcheck={false}
          placeholder={texts.open.placeholder}
          value={text}
          onInput={(event) => change(event.currentTarget.value)}
          aria-invalid={isBad}
          aria-describedby="address-note"
        />
        <Button type="submit">{texts.open.button}</Button>
      </div>
      {brought && <ManifestQuestion manifest={brought} onOpen={brought.open} onRefuse={refuseBrought} />}
      <div class="address-notes">
        <p id="address-note" class={isBad ? 'note note-problem' : 'note'} aria-live="polite">
          {isReading ? (
            texts.open.reading
          ) : failure ? (
            <ProblemText problem={failure} />
          ) : (
            (problem ?? (manifest ? texts.open.privateLink : texts.open.hint))
          )}
        </p>
        <p class="note">
          <span id="file-note">{texts.open.fileNote}</span>{' '}
          <Button look="link" aria-describedby="file-note" onClick={() => picker.current?.click()}>
            {texts.open.openFile}
          </Button>
        </p>
        {/* Accepts every file: phones disable files with an unknown extension if the input lists types. */}
        <input
          ref={picker}
          type="file"
          hidden
          onChange={({ currentTarget }) => {
            choose(currentTarget.files);
            // Reset the value: otherwise, choosing the same file again causes no change event.
            currentTarget.value = '';
          }}
        />
      </div>
      {isOver && (
        <div class="drop-state" aria-hidden="true">
          <span>{texts.open.drop}</span>
        </div>
      )}
    </form>
  );
}

/** Spreadsheets copy cells as a text and as a picture: this is no file. File managers add the file's name as a text. */
function isFile(data: DataTransfer): boolean {
  const [file] = data.files;
  return file !== undefined && !(file.type.startsWith('image/') && data.getData('text/plain') !== '');
}

/** Handles a paste anywhere on the page: files always, a text only outside of a field. */
function usePaste(take: (data: DataTransfer) => void): void {
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
function useLaunchedFiles(open: (file: File) => void, isReady: boolean): void {
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
