import type { ComponentChildren } from 'preact';
import type { DraftCheck } from '../../server/draft-check.ts';

interface FieldProps {
  id: string;
  label: ComponentChildren;
  help?: ComponentChildren;
  /** Beside the label, such as a button that fills the field in. */
  aside?: ComponentChildren;
  checks?: readonly DraftCheck[];
  /** Called when the focus goes elsewhere. */
  onLeave?: () => void;
  children: ComponentChildren;
}

/** IDs of what describes a field, for its `aria-describedby`. */
export const describedBy = (id: string): string => `${id}-problem ${id}-help`;

/** The checks that are about one member of the campaign. */
export const checksAt = (checks: readonly DraftCheck[], ...path: (string | number)[]): DraftCheck[] =>
  checks.filter((check) => path.every((step, index) => check.path[index] === step));

export const hasError = (checks: readonly DraftCheck[]): boolean =>
  checks.some(({ severity }) => severity === 'error');

/** A label, what it is for, and what there is to say of what is in it. */
export const Field = ({ id, label, help, aside, checks = [], onLeave, children }: FieldProps) => (
  <div class="field" onFocusOut={onLeave}>
    <div class="field-head">
      <label for={id}>{label}</label>
      {aside}
    </div>
    {children}
    <div id={`${id}-problem`}>
      {checks.map(({ severity, words }) => (
        <p key={words} class={severity === 'error' ? 'field-problem' : 'field-warning'}>
          {words}
        </p>
      ))}
    </div>
    {help && (
      <p class="field-help" id={`${id}-help`}>
        {help}
      </p>
    )}
  </div>
);
