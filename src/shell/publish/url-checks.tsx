import type { ComponentChildren } from 'preact';
import { hostOf } from '../live/peer-rows.ts';

interface Props {
  legend: string;
  urls: readonly string[];
  unchecked: ReadonlySet<string>;
  onChange: (unchecked: Set<string>) => void;
  /** Shown between the legend and the URLs. */
  children?: ComponentChildren;
}

/** A list of servers, of which each can be unchecked. */
export function UrlChecks({ legend, urls, unchecked, onChange, children }: Props) {
  return (
    <fieldset class="choice">
      <legend>{legend}</legend>
      {children}
      {urls.map((url) => (
        <label key={url} class="check">
          <input
            type="checkbox"
            checked={!unchecked.has(url)}
            onChange={({ currentTarget }) => {
              const next = new Set(unchecked);
              if (currentTarget.checked) next.delete(url);
              else next.add(url);
              onChange(next);
            }}
          />
          <span title={url}>{hostOf(url)}</span>
        </label>
      ))}
    </fieldset>
  );
}
