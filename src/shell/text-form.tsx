import { useState } from 'preact/hooks';
import { TextField } from './text-field.tsx';

/** One of the texts that a form asks for. */
export interface Field {
  id: string;
  label: string;
  /** What stands in it as long as the user wrote nothing. */
  initial?: string;
  type?: 'text' | 'url';
  inputMode?: 'decimal';
  placeholder?: string;
  isMono?: boolean;
  /** What is wrong with a text, which has no space around it; null when it will do. */
  problemOf(text: string): string | null;
}

interface Props {
  fields: readonly Field[];
  /** The button's text; and its name where the text alone says too little. */
  submit: string;
  submitLabel?: string;
  /** Shown as long as nothing is wrong. */
  note?: string;
  /** Takes the texts, in the order of the fields. They are then as at first. */
  onSubmit(...texts: string[]): unknown;
}

/** A few fields and a button in a row. It says what is wrong once it was asked to submit, and goes to that field. */
export function TextForm({ fields, submit, submitLabel, note, onSubmit }: Props) {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const [problem, setProblem] = useState<{ id: string; text: string } | null>(null);
  const id = fields[0]?.id;
  const textOf = ({ id, initial = '' }: Field) => texts[id] ?? initial;

  function take() {
    const given = fields.map((field) => textOf(field).trim());
    for (const [i, { id, problemOf }] of fields.entries()) {
      const text = problemOf(given[i]!);
      if (text !== null) {
        setProblem({ id, text });
        document.getElementById(id)?.focus();
        return;
      }
    }
    setTexts({});
    onSubmit(...given);
  }

  return (
    <>
      <form
        class="text-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          take();
        }}
      >
        {fields.map((field) => {
          const { initial: _, problemOf: __, ...rest } = field;
          return (
            <TextField
              key={field.id}
              {...rest}
              value={textOf(field)}
              isBad={problem?.id === field.id}
              describedBy={`${id}-problem ${id}-note`}
              onInput={(text) => {
                setTexts({ ...texts, [field.id]: text });
                setProblem(null);
              }}
            />
          );
        })}
        <button type="submit" class="button button-quiet" aria-label={submitLabel}>
          {submit}
        </button>
      </form>
      <p id={`${id}-problem`} class="note note-problem" role="alert">
        {problem?.text}
      </p>
      {note && !problem && (
        <p id={`${id}-note`} class="note">
          {note}
        </p>
      )}
    </>
  );
}
