import type { Signal } from '@preact/signals';

interface NoteFieldProps {
  id: string;
  label: string;
  note: Signal<string>;
}

/** Why something is published, stopped or taken back: for those who read the history. */
export const NoteField = ({ id, label, note }: NoteFieldProps) => (
  <div class="field">
    <label for={id}>{label}</label>
    <textarea
      id={id}
      rows={2}
      dir="auto"
      value={note.value}
      onInput={(event) => {
        note.value = event.currentTarget.value;
      }}
    />
  </div>
);
