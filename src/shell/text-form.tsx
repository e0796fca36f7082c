import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { TextField } from './text-field.tsx';

interface Field {
  id: string;
  label: string;
  /** The value until the user changes it. */
  initial?: string;
  type?: 'text' | 'url';
  inputMode?: 'decimal';
  placeholder?: string;
  isMono?: boolean;
  /** Returns the problem of a trimmed text, or null if the text is valid. */
  problemOf(text: string): string | null;
}

interface Props {
  fields: readonly Field[];
  /** The text of the button. `submitLabel` is its accessible name if the text alone is not clear. */
  submit: string;
  submitLabel?: string;
  /** Shown while there is no problem. */
  note?: string;
  /** Called if the fields have a problem at an attempt to submit. */
  onProblem?(): void;
  /** Gets the trimmed texts in the order of the fields. The fields then return to their initial values. */
  onSubmit(...texts: string[]): unknown;
}

/** Fields and a button in a row. An attempt to submit shows the first problem and focuses its field. */
export function TextForm({ fields, submit, submitLabel, note, onProblem, onSubmit }: Props) {
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
        onProblem?.();
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
        <Button look="quiet" type="submit" aria-label={submitLabel}>
          {submit}
        </Button>
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
