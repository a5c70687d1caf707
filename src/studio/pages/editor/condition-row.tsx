import type { Condition } from '../../campaign/audience-model.ts';
import { AttributeParts } from './attribute-parts.tsx';
import { AppParts, GroupParts } from './choice-parts.tsx';
import { DoneParts } from './done-parts.tsx';
import { RemoveButton } from './remove-button.tsx';

interface ConditionRowProps {
  /** ID of its first control. */
  id: string;
  condition: Condition;
  /** It says nothing yet. */
  isIncomplete: boolean;
  onChange(condition: Condition): void;
  onRemove(): void;
}

/** One line of the builder. */
export const ConditionRow = ({ id, condition, isIncomplete, onChange, onRemove }: ConditionRowProps) => (
  <li class="condition">
    {condition.kind === 'attribute' && <AttributeParts id={id} condition={condition} onChange={onChange} />}
    {(condition.kind === 'event' || condition.kind === 'purchase') && (
      <DoneParts id={id} condition={condition} onChange={onChange} />
    )}
    {condition.kind === 'group' && <GroupParts id={id} condition={condition} onChange={onChange} />}
    {condition.kind === 'app' && <AppParts id={id} condition={condition} onChange={onChange} />}
    <RemoveButton label="Remove this line" onClick={onRemove} />
    {isIncomplete && <p class="field-help">Not filled in yet: it does not count.</p>}
  </li>
);
