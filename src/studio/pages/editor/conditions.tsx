import type { ComponentChildren } from 'preact';
import type { Control, Suggestions } from '../../campaign/conditions/condition-kind.ts';
import { type Condition, getControls } from '../../campaign/conditions/kinds.ts';
import { RemoveButton, Select } from '../components/controls.tsx';
import { useInvalid } from '../components/fields.tsx';
import { ATTRIBUTE_NAMES, EVENT_NAMES, getValuesListId, PRODUCT_IDS } from '../components/suggestions.tsx';
import { signedIn } from '../shell/session.ts';

interface ConditionPartProps {
  label: string;
  children: ComponentChildren;
  isWide?: boolean;
}

/** Labeled control of a condition. */
export const ConditionPart = ({ label, children, isWide = false }: ConditionPartProps) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the control is among its children
  <label class={isWide ? 'condition-part wide' : 'condition-part'}>
    <span>{label}</span>
    {children}
  </label>
);

const LISTS = { attributes: ATTRIBUTE_NAMES, events: EVENT_NAMES, products: PRODUCT_IDS };
const getListId = (suggestions: Suggestions | undefined): string | undefined => {
  if (suggestions === undefined) return undefined;
  return typeof suggestions === 'string' ? LISTS[suggestions] : getValuesListId(suggestions.attribute);
};

interface ControlInputProps {
  id: string | undefined;
  control: Control<Condition>;
  onChange(condition: Condition): void;
}

const ControlInput = ({ id, control, onChange }: ControlInputProps) => {
  switch (control.type) {
    case 'select':
      return (
        <Select
          {...(id !== undefined && { id })}
          value={control.value}
          options={control.options}
          onChoose={(value) => onChange(control.onChoose(value))}
        />
      );
    case 'number':
      return (
        <input
          id={id}
          type="number"
          min={control.isCount ? '1' : '0'}
          step={control.isCount ? '1' : 'any'}
          placeholder={control.placeholder}
          value={control.value ?? ''}
          onInput={(event) => {
            const typed = event.currentTarget.valueAsNumber;
            const value = control.isCount ? Math.floor(typed) : typed;
            onChange(control.onInput(value > 0 ? value : null));
          }}
        />
      );
    case 'text':
      return (
        <input
          key={control.keptFor}
          id={id}
          list={getListId(control.suggestions)}
          {...(control.keptFor === undefined ? { value: control.value } : { defaultValue: control.value })}
          placeholder={control.placeholder}
          dir="auto"
          autoComplete="off"
          onInput={(event) => onChange(control.onInput(event.currentTarget.value))}
        />
      );
  }
};

interface ConditionRowProps {
  /** ID of the main control of the condition. */
  id: string;
  condition: Condition;
  /** Whether the condition is incomplete. */
  isIncomplete: boolean;
  /** Whether no user in the sample has the name. */
  isUnknown: boolean;
  onChange(condition: Condition): void;
  onRemove(): void;
}

/** Condition in the audience builder. */
export const ConditionRow = (props: ConditionRowProps) => {
  const { id, condition, isIncomplete, isUnknown, onChange, onRemove } = props;
  useInvalid(id, isIncomplete);
  const controls = getControls(condition, signedIn().workspace);
  const subject = controls.find(({ isWide }) => isWide);
  return (
    <li class="row low sunk condition">
      {controls.map((control) => (
        <ConditionPart
          key={`${condition.kind} ${control.label}`}
          label={control.label}
          isWide={control.isWide ?? false}
        >
          <ControlInput id={control === subject ? id : undefined} control={control} onChange={onChange} />
        </ConditionPart>
      ))}
      <RemoveButton label="Remove condition" onClick={onRemove} />
      {isIncomplete && <p class="field-help">Incomplete, ignored.</p>}
      {isUnknown && <p class="field-warning">No matching users found. Check the spelling.</p>}
    </li>
  );
};
