import type { ComponentChildren } from 'preact';
import type { Condition } from '../../campaign/audience-model.ts';

/** Conditions of one kind. */
export type ConditionOf<Kind extends Condition['kind']> = Extract<Condition, { kind: Kind }>;

export interface PartsProps<Kind extends Condition['kind']> {
  /** ID of the first control. */
  id: string;
  condition: ConditionOf<Kind>;
  onChange(condition: Condition): void;
}

interface ConditionPartProps {
  label: string;
  children: ComponentChildren;
  isWide?: boolean;
}

/** One control of a line, with its label above it. */
export const ConditionPart = ({ label, children, isWide = false }: ConditionPartProps) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the control is among its children
  <label class={isWide ? 'condition-part wide' : 'condition-part'}>
    <span>{label}</span>
    {children}
  </label>
);
