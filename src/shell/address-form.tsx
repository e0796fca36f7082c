import { useRef, useState } from 'preact/hooks';
import { parseAddressInput } from './address-input.ts';

/** The address box. Opens what was typed, or says why it cannot. */
export function AddressForm({ names }: { names: ReadonlyMap<string, string> }) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  /** Nobody wants to be corrected while still typing: problems show from the first try on. */
  const [wasTried, setWasTried] = useState(false);
  const parsed = parseAddressInput(text, { names: new Set(names.keys()), origin: location.origin });
  const problem = wasTried && 'problem' in parsed ? parsed.problem : null;

  function open(event: SubmitEvent) {
    event.preventDefault();
    if ('path' in parsed) {
      location.assign(parsed.path);
    } else {
      setWasTried(true);
      input.current?.focus();
    }
  }

  return (
    <form class="address-form" onSubmit={open} noValidate>
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
          onInput={(event) => setText(event.currentTarget.value)}
          aria-invalid={problem !== null}
          aria-describedby="address-note"
        />
        <button type="submit" class="button">
          Open
        </button>
      </div>
      <p id="address-note" class={problem ? 'note note-problem' : 'note'} aria-live="polite">
        {problem ?? 'An address of 64 hex digits, an ant:// link, or a link of any gateway.'}
      </p>
    </form>
  );
}
