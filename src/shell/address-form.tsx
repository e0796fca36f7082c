import { useRef, useState } from 'preact/hooks';
import { manifestOfLink } from '../content/manifest.ts';
import { parseAddressInput } from './address-input.ts';
import { asGatewayApiError, type GatewayApiError } from './gateway-api.ts';
import { openManifest } from './open-manifest.ts';
import { useDrop } from './use-drop.ts';

/** The address box. Opens what was typed, chosen or dropped, or says why it cannot. */
export function AddressForm({ names }: { names: ReadonlyMap<string, string> }) {
  const input = useRef<HTMLInputElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  /** Nobody wants to be corrected while still typing: problems show from the first try on. */
  const [wasTried, setWasTried] = useState(false);
  const [failure, setFailure] = useState<GatewayApiError | null>(null);
  const [isReading, setIsReading] = useState(false);
  const parsed = parse(text);
  const problem = failure?.message ?? (wasTried && 'problem' in parsed ? parsed.problem : null);
  const isOver = useDrop(drop);

  function parse(newText: string) {
    return parseAddressInput(newText, { names: new Set(names.keys()), origin: location.origin });
  }

  function change(newText: string) {
    setText(newText);
    setFailure(null);
  }

  function open(input: ReturnType<typeof parse>) {
    if ('path' in input) location.assign(input.path);
    else if ('manifestLink' in input) keepAndOpen(() => new Blob([manifestOfLink(input.manifestLink)]));
    else refuse();
  }

  function refuse() {
    setWasTried(true);
    input.current?.focus();
  }

  async function keepAndOpen(manifest: () => Blob) {
    setFailure(null);
    setIsReading(true);
    try {
      await openManifest(manifest());
    } catch (error) {
      setFailure(asGatewayApiError(error));
    }
    setIsReading(false);
  }

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
      <h1>
        <label for="address">Open an address</label>
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
          placeholder="Address, link or bookmark"
          value={text}
          onInput={(event) => change(event.currentTarget.value)}
          aria-invalid={problem !== null}
          aria-describedby="address-note"
        />
        <button type="submit" class="button">
          Open
        </button>
      </div>
      <div class="address-notes">
        <p id="address-note" class={problem ? 'note note-problem' : 'note'} aria-live="polite">
          {isReading
            ? 'Reading the manifest …'
            : (problem ?? 'An address of 64 hex digits, an ant:// link, or a link of any gateway.')}
          {failure && <span class="code"> {failure.code}</span>}
        </p>
        <p class="note">
          <span id="file-note">A manifest (.ant) stays on this device.</span>{' '}
          <button
            type="button"
            class="link"
            aria-describedby="file-note"
            onClick={() => picker.current?.click()}
          >
            Open a file…
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
          <span>Drop a manifest (.ant) or a link to open it</span>
        </div>
      )}
    </form>
  );
}
