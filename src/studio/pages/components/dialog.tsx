import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { ActionError } from '../call.ts';
import { Button, type ButtonProps, into } from './controls.tsx';
import { useAction } from './loading.tsx';
import { announce } from './notices.tsx';

interface DialogAction {
  name: string;
  /** Resolves with the text of a toast to close the dialog, or with anything else to keep it open. */
  act(): Promise<unknown>;
  /** Whether the button is enabled. `false` for example while a draft is being saved. */
  isReady?: boolean;
}

interface DialogProps {
  title: string;
  onClose(): void;
  /** Called after the action has closed the dialog. */
  onDone?(): Promise<void>;
  children: ComponentChildren;
  /** Label of the cancel button. Default: Cancel. */
  closeName?: string;
  /** Additional actions, for example a copy button. */
  more?: ComponentChildren;
  /** Primary action, whose error is shown above the button; `null` if currently unavailable. */
  action?: DialogAction | null;
  isWide?: boolean;
  /** Whether there is unsaved input. Escape then asks the operator to use the buttons instead of closing. */
  isChanged?: boolean;
}

/** Modal `<dialog>`. The browser traps and restores the focus, and closes the dialog on Escape. */
export const Dialog = (props: DialogProps) => {
  const { title, onClose, onDone, closeName = 'Cancel', children, more, action, isWide, isChanged } = props;
  const { problem, isBusy, run } = useAction(async () => {
    const done = await action?.act();
    if (typeof done !== 'string') return;
    announce(done);
    onClose();
    await onDone?.();
  });
  const isReady = !isBusy.value && action?.isReady !== false;
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    element.current?.showModal();
    // Closes the dialog before its removal, because the browser restores the focus only on `close()`.
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
        if (!isChanged) onClose();
        else announce(`Not saved. Choose “${closeName}” to discard your changes.`);
      }}
    >
      <div class="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
        <p class="field-problem" role="alert">
          {problem.value}
        </p>
      </div>
      <div class="row dialog-foot">
        <Button onClick={onClose}>{closeName}</Button>
        {more}
        {action && (
          // Uses `aria-disabled`, because a disabled button loses the focus.
          <Button look="primary" aria-disabled={!isReady} onClick={() => void (isReady && run())}>
            {action.name}
          </Button>
        )}
      </div>
    </dialog>
  );
};

interface DialogButtonProps extends Omit<ButtonProps, 'children' | 'name' | 'onClick'> {
  name: string;
  /** Called before the dialog opens. */
  before?(): Promise<void>;
  /** Renders the dialog. */
  children(close: () => void): ComponentChildren;
}

export const DialogButton = ({ name, before, children, ...button }: DialogButtonProps) => {
  const isOpen = useSignal(false);
  const open = async () => {
    await before?.();
    isOpen.value = true;
  };
  return (
    <>
      <Button {...button} onClick={() => void open()}>
        {name}
      </Button>
      {isOpen.value &&
        children(() => {
          isOpen.value = false;
        })}
    </>
  );
};

interface NoteFieldProps {
  id: string;
  label: string;
  note: Signal<string>;
}

/** Field for the reason of publishing, stopping or rolling back a version, shown in the history. */
export const NoteField = ({ id, label, note }: NoteFieldProps) => (
  <div class="field">
    <label for={id}>{label}</label>
    <textarea
      id={id}
      rows={2}
      dir="auto"
      value={note.value}
      onInput={(event) => into(note)(event.currentTarget.value)}
    />
  </div>
);

/** Copies a text to the clipboard. Throws an `ActionError` with the message `instead` if the browser denies access. */
export const copyText = async (text: string, instead: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    throw new ActionError(`The browser does not let the Studio copy: ${instead}.`);
  }
};
