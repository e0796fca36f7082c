interface Props {
  id: string;
  label: string;
  value: string;
  onInput: (value: string) => void;
  type?: 'text' | 'url' | 'password';
  inputMode?: 'decimal' | 'url';
  placeholder?: string;
  /** Ids of elements that describe the field, if it has no own note. */
  describedBy?: string;
  isBad?: boolean;
  /** A monospaced font, for text that users compare character by character, such as addresses. */
  isMono?: boolean;
  note?: string;
}

/** A text input with its label. Browsers do not correct spelling or capitals in it. */
export function TextField(props: Props) {
  const { id, label, value, onInput, type = 'text', inputMode, placeholder, note } = props;
  return (
    <label class="field">
      <span class="field-label">{label}</span>
      <input
        id={id}
        class={props.isMono ? 'input input-mono' : 'input'}
        // Preact's types distinguish inputs by their type, but these types accept the same attributes.
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
