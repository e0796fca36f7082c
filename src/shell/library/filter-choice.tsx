import { texts } from '../texts/texts.ts';
import { type Filter, filters } from './arrange.ts';

interface Props {
  filter: Filter;
  onChange: (filter: Filter) => void;
}

/** Which part of the library is shown. */
export function FilterChoice({ filter, onChange }: Props) {
  const t = texts.library;
  return (
    <fieldset class="filter-choice">
      <legend class="visually-hidden">{t.filter}</legend>
      {filters.map((each) => (
        <label key={each}>
          <input
            class="visually-hidden"
            type="radio"
            name="filter"
            checked={filter === each}
            onChange={() => onChange(each)}
          />
          <span>{t.filters[each]}</span>
        </label>
      ))}
    </fieldset>
  );
}
