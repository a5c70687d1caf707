import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Refused } from '../call.ts';
import type { ButtonProps } from './controls.tsx';
import { Button } from './controls.tsx';
import { useAction } from './loading.tsx';
import { announce } from './notices.tsx';

interface DialogAction {
  name: string;
  act(): Promise<void>;
  /** `false`: the button is there and does nothing, as while a draft is saved. */
  isReady?: boolean;
}

interface DialogProps {
  title: string;
  onClose(): void;
  children: ComponentChildren;
  /** What the button is called that leaves everything as it is. */
  closeName: string;
  /** Something else to do in it, such as to copy. */
  more?: ComponentChildren;
  /** The button that does what the dialog is for; why it failed stands above it. `null`: it cannot be done now. */
  action?: DialogAction | null;
  isWide?: boolean;
  /** Something was typed that closing would lose: Escape asks to use the buttons. */
  isChanged?: boolean;
}

/** The browser's own dialog: it keeps the focus and ends with Escape; the focus goes back to where it came from. */
export const Dialog = (props: DialogProps) => {
  const { title, onClose, closeName, children, more, action, isWide = false, isChanged = false } = props;
  const { problem, isBusy, run } = useAction(async () => action?.act());
  const isReady = !isBusy.value && action?.isReady !== false;
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
          // It is not disabled meanwhile, which would lose the focus.
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
  /** What has to be done first. */
  before?(): Promise<void>;
  /** The dialog, with what closes it. */
  children(close: () => void): ComponentChildren;
}

/** A button that opens a dialog. */
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

/** Puts a text on the clipboard; where the browser refuses, the reader learns what to do instead. */
export const copyText = async (text: string, instead: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    throw new Refused(`The browser does not let the Studio copy: ${instead}.`);
  }
};
