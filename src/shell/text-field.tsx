interface Props {
  id: string;
  label: string;
  value: string;
  onInput: (value: string) => void;
  type?: 'text' | 'url' | 'password';
  inputMode?: 'decimal';
  placeholder?: string;
  /** Ids of what tells more about it, in place of a note of its own. */
  describedBy?: string;
  isBad?: boolean;
  /** For what is read character by character, such as addresses. */
  isMono?: boolean;
  /** Stands below it. */
  note?: string;
}

/** A line of text with its label. What browsers would put right in it (spelling, capitals) they leave as it is. */
export function TextField(props: Props) {
  const { id, label, value, onInput, type = 'text', inputMode, placeholder, note } = props;
  return (
    <label class="field">
      <span class="field-label">{label}</span>
      <input
        id={id}
        class={props.isMono ? 'input input-mono' : 'input'}
        // Preact's types tell kinds of fields apart by this, and all of these take the same.
        type={type as 'text'}
        inputMode={inputMode}
        placeholder={placeholder}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        value={value}
        aria-invalid={props.isBad ?? false}
        aria-describedby={note ? `${id}-note` : props.describedBy}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      {note && (
        <span id={`${id}-note`} class="note">
          {note}
        </span>
      )}
    </label>
  );
}
