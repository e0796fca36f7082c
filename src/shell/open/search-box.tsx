import type { RefObject } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { openContent } from '../content-link.tsx';
import { type FilesOfSite, gateway } from '../gateway-api.ts';
import { goTo } from '../route.ts';
import { texts } from '../texts/texts.ts';
import type { AddressInput } from './address-input.ts';
import type { FindSource } from './find/collect.ts';
import type { Action, Suggestion } from './find/suggestion.ts';
import { useWantedFocus } from './search-shortcut.ts';

interface Props {
  input: RefObject<HTMLInputElement | null>;
  text: string;
  parsed: AddressInput;
  isBad: boolean;
  /** Everything but the files, which are read when the input gets the focus. */
  source: Omit<FindSource, 'files'>;
  isReady: boolean;
  onText: (text: string) => void;
  onOpenFile: () => void;
}

const listId = 'suggestions';

type Finder = typeof import('./find/finder.tsx');

/**
 * The input for everything: a combobox with a list, see https://www.w3.org/WAI/ARIA/apg/patterns/combobox/.
 * It finds what is on this device. Typing sends nothing. Enter opens the first suggestion, or submits the form.
 */
export function SearchBox({ input, text, parsed, isBad, source, isReady, onText, onOpenFile }: Props) {
  const [finder, setFinder] = useState<Finder | null>(null);
  const [files, setFiles] = useState<readonly FilesOfSite[]>([]);
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  useWantedFocus(input);

  const { sites, names, config, lists } = source;
  const index = useMemo(
    () => finder?.indexSuggestions(finder.collectSuggestions({ sites, names, config, lists, files })),
    [finder, sites, names, config, lists, files, texts],
  );
  const suggestions = useMemo(() => {
    if (!isOpen || !finder || !index) return [];
    const typed = finder.suggestionsOfText(text, parsed);
    const found = finder.rankSuggestions(index, text);
    // A typed name is the first suggestion already.
    const isTyped = ({ kind, title }: Suggestion) =>
      kind === 'name' && typed.some((each) => each.kind === 'name' && each.title === title);
    return [...typed, ...found.filter((each) => !isTyped(each))];
  }, [isOpen, finder, index, text, parsed]);
  const isShown = suggestions.length > 0;
  const activeId = isShown ? finder?.optionId(listId, active) : undefined;

  async function prepare() {
    if (finder) return;
    // Without suggestions the input still opens addresses. The next focus tries again.
    const loaded = await import('./find/finder.tsx').catch(() => null);
    if (loaded) setFinder(loaded);
  }

  // The files are read once for each time that the input is used, and never because of what is typed.
  const [isFocused, setFocused] = useState(false);
  useEffect(() => {
    if (!isFocused || !isReady) return;
    const stop = new AbortController();
    gateway.recentFiles(stop.signal).then(setFiles, () => undefined);
    return () => stop.abort();
  }, [isFocused, isReady]);

  function choose(suggestion: Suggestion) {
    setOpen(false);
    if (suggestion.action) void run(suggestion.action, suggestion.address);
    else if (suggestion.path) openContent(suggestion.path);
    else input.current?.form?.requestSubmit();
  }

  async function run(action: Action, address?: string) {
    if (action === 'openFile') return onOpenFile();
    if (action !== 'pin') return goTo(action);
    // The library shows the progress of the pin, and why it fails.
    if (address) await gateway.pin(address, 'pin').catch(() => undefined);
    goTo('library');
  }

  function press(event: KeyboardEvent) {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    if (key === 'Enter' && isShown) {
      event.preventDefault();
      choose(suggestions[active]!);
    } else if (key === 'Escape') {
      if (isShown) setOpen(false);
      else if (text !== '') onText('');
      else return;
      event.preventDefault();
    } else if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault();
      const step = key === 'ArrowDown' ? 1 : -1;
      if (isShown) setActive((active + step + suggestions.length) % suggestions.length);
      else show();
    }
  }

  function show() {
    void prepare();
    setActive(0);
    setOpen(true);
  }

  return (
    <div class="search">
      <div class="address-box">
        <label for="address" class="visually-hidden">
          {texts.open.label}
        </label>
        <input
          ref={input}
          id="address"
          class={text.length > 40 ? 'long' : undefined}
          type="text"
          inputMode="url"
          enterKeyHint="go"
          autocomplete="off"
          autocapitalize="none"
          autocorrect="off"
          spellcheck={false}
          placeholder={texts.open.placeholder}
          value={text}
          onFocus={() => {
            setFocused(true);
            void prepare();
          }}
          onBlur={() => {
            setFocused(false);
            setOpen(false);
          }}
          onInput={(event) => {
            onText(event.currentTarget.value);
            setActive(0);
            setOpen(event.currentTarget.value.trim() !== '');
          }}
          onKeyDown={press}
          role="combobox"
          aria-expanded={isShown}
          aria-controls={isShown ? listId : undefined}
          aria-activedescendant={activeId}
          aria-autocomplete="list"
          aria-invalid={isBad}
          aria-describedby="address-note"
        />
        <Button type="submit">{texts.open.button}</Button>
      </div>
      {isShown && finder && (
        <finder.SuggestionList id={listId} suggestions={suggestions} active={active} onChoose={choose} />
      )}
    </div>
  );
}
