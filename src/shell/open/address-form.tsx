import { useEffect, useRef, useState } from 'preact/hooks';
import { manifestOfLink } from '../../content/manifest.ts';
import { openContent } from '../content-link.tsx';
import { asGatewayApiError, type GatewayApiError } from '../gateway-api.ts';
import type { Route } from '../route.ts';
import { texts } from '../texts/texts.ts';
import { useDrop } from '../use-drop.ts';
import { parseAddressInput } from './address-input.ts';
import { takeIncoming } from './incoming.ts';
import { openManifest } from './open-manifest.ts';

interface Props {
  /** Name → address of this gateway's bookmarks. */
  names: ReadonlyMap<string, string>;
  /** What the page's own URL carries. */
  manifest: Route['manifest'];
  /** Whether the gateway runs, so that what came from outside can be opened. */
  isReady: boolean;
}

/** The address box. Opens what was typed, chosen, dropped or handed over, or says why it cannot. */
export function AddressForm({ names, manifest, isReady }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  /** Nobody wants to be corrected while still typing: problems show from the first try on. */
  const [wasTried, setWasTried] = useState(false);
  const [failure, setFailure] = useState<GatewayApiError | null>(null);
  const [isReading, setIsReading] = useState(false);
  const parsed = parse(text);
  const problem = failure?.message ?? (wasTried && 'problem' in parsed ? parsed.problem : null);
  const isOver = useDrop(['Files', 'text/uri-list', 'text/plain'], drop);

  function parse(newText: string) {
    return parseAddressInput(newText, { names: new Set(names.keys()), origin: location.origin });
  }

  function change(newText: string) {
    setText(newText);
    setFailure(null);
  }

  function open(input: ReturnType<typeof parse>) {
    if ('path' in input) openContent(input.path);
    else if ('manifestLink' in input) keepAndOpen(() => new Blob([manifestOfLink(input.manifestLink)]));
    else refuse();
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

  // A link of ours that another program opened, something shared, a link that carries a manifest: as if pasted.
  const incoming = useRef<string | undefined>(undefined);
  useEffect(() => {
    const taken = takeIncoming();
    if (taken === undefined) return;
    incoming.current = taken;
    change(taken);
  }, []);
  useEffect(() => {
    if (!isReady || incoming.current === undefined) return;
    const parsed = parse(incoming.current);
    incoming.current = undefined;
    open(parsed);
  }, [isReady]);
  useEffect(() => {
    if (!isReady || !manifest) return;
    keepAndOpen(
      () => new Blob([manifestOfLink(`ant://manifest/${manifest.text}`)]),
      manifest.path || '/',
      true,
    );
  }, [isReady, manifest?.text, manifest?.path]);
  useLaunchedFiles((file) => keepAndOpen(() => file), isReady);

  function choose(files: FileList | null) {
    const file = files?.[0];
    if (!file) return;
    change('');
    keepAndOpen(() => file);
  }

  function drop(data: DataTransfer) {
    if (data.files.length > 0) {
      choose(data.files);
    } else {
      const dropped = (data.getData('text/uri-list') || data.getData('text/plain')).trim();
      change(dropped);
      open(parse(dropped));
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
          aria-invalid={problem !== null}
          aria-describedby="address-note"
        />
        <button type="submit" class="button">
          {texts.open.button}
        </button>
      </div>
      <div class="address-notes">
        <p id="address-note" class={problem ? 'note note-problem' : 'note'} aria-live="polite">
          {isReading
            ? texts.open.reading
            : (problem ?? (manifest ? texts.open.privateLink : texts.open.hint))}
          {failure && <span class="code"> {failure.code}</span>}
        </p>
        <p class="note">
          <span id="file-note">{texts.open.fileNote}</span>{' '}
          <button
            type="button"
            class="link"
            aria-describedby="file-note"
            onClick={() => picker.current?.click()}
          >
            {texts.open.openFile}
          </button>
        </p>
        {/* Takes every file: phones grey out all of those with an ending that they do not know. */}
        <input
          ref={picker}
          type="file"
          hidden
          onChange={({ currentTarget }) => {
            choose(currentTarget.files);
            // So that choosing the same file once more is a change too.
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

/** Files that the system opens with the installed app (https://wicg.github.io/manifest-incubations/#launchqueue-interface). */
function useLaunchedFiles(open: (file: File) => void, isReady: boolean): void {
  useEffect(() => {
    if (!isReady) return;
    (window as LaunchingWindow).launchQueue?.setConsumer(async ({ files }) => {
      const file = await files?.[0]?.getFile();
      if (file) open(file);
    });
  }, [isReady]);
}

type LaunchingWindow = Window & {
  launchQueue?: {
    setConsumer(consumer: (launch: { files?: readonly FileSystemFileHandle[] }) => void): void;
  };
};
