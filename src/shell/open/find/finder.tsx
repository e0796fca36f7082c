// Loaded when the input gets the focus for the first time. The first screen does not need it.
import '../../styles/find.css';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Icon } from '../../icons.tsx';
import { findTexts } from '../../texts/later.ts';
import type { Suggestion, SuggestionKind } from './suggestion.ts';

export { collectSuggestions, suggestionsOfText } from './collect.ts';
export { indexSuggestions, rankSuggestions } from './suggestion.ts';

interface Props {
  id: string;
  suggestions: readonly Suggestion[];
  /** The index of the suggestion that Enter opens. -1: none. */
  active: number;
  onChoose: (suggestion: Suggestion) => void;
}

const icons = {
  address: 'open',
  private: 'open',
  name: 'bookmark',
  listedName: 'bookmark',
  action: 'action',
  site: 'site',
  catalogue: 'site',
  file: 'file',
} as const satisfies Record<SuggestionKind, string>;

export function optionId(list: string, index: number): string {
  return `${list}-${index}`;
}

/**
 * The list of a combobox. The focus stays in the input.
 * Security: titles come from strangers. Each is isolated from the text around it and is cut when it is long, and its kind
 * stands beside it.
 */
export function SuggestionList({ id, suggestions, active, onChoose }: Props) {
  const texts = findTexts();
  useEffect(() => {
    document.getElementById(optionId(id, active))?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <div id={id} role="listbox" class="suggestions" aria-label={texts.results}>
      {suggestions.map((suggestion, i) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input, which names the active option
        <div
          key={optionId(id, i)}
          id={optionId(id, i)}
          role="option"
          class={`suggestion suggestion-${suggestion.kind}`}
          aria-selected={i === active}
          // Keep the focus in the input.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onChoose(suggestion)}
        >
          <Icon name={icons[suggestion.kind]} size={18} />
          <span class="suggestion-text">
            <bdi class="suggestion-title">{suggestion.title}</bdi>
            <Detail of={suggestion}>{suggestion.detail}</Detail>
          </span>
          <span class="suggestion-kind">{texts.kinds[suggestion.kind]}</span>
        </div>
      ))}
    </div>
  );
}

/** The further words of an action are for the search only. */
function Detail({ of: { kind, detail }, children }: { of: Suggestion; children: ComponentChildren }) {
  return kind === 'action' || detail === '' ? null : <bdi class="suggestion-detail">{children}</bdi>;
}
