import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface DialogProps {
  title: string;
  onClose(): void;
  children: ComponentChildren;
  /** What the button is called that leaves everything as it is. */
  closeName: string;
  /** Buttons beside it. */
  actions?: ComponentChildren;
  isWide?: boolean;
}

/** The browser's own dialog: it keeps the focus and ends with Escape; the focus goes back to where it came from. */
export const Dialog = ({ title, onClose, closeName, children, actions, isWide = false }: DialogProps) => {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    element.current?.showModal();
    // It leaves the page as it is: the browser gives the focus back only where it is closed there.
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={isWide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
      <div class="dialog-foot">
        <button type="button" class="button" onClick={onClose}>
          {closeName}
        </button>
        {actions}
      </div>
    </dialog>
  );
};

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
