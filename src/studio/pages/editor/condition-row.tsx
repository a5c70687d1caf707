import type { ComponentChildren } from 'preact';
import { type AttributeOperator, type Condition, scalarOf, typedOf } from '../../campaign/audience-model.ts';
import { signedIn } from '../shell/session.ts';

interface ConditionRowProps {
  /** ID of its first control. */
  id: string;
  condition: Condition;
  onChange(condition: Condition): void;
  onRemove(): void;
}

const OPERATORS: readonly AttributeOperator[] = [
  'is',
  'is not',
  'is one of',
  'more than',
  'at least',
  'less than',
  'at most',
  'is known',
  'is not known',
];

const Part = ({
  label,
  children,
  isWide = false,
}: {
  label: string;
  children: ComponentChildren;
  isWide?: boolean;
}) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the control is among its children
  <label class={isWide ? 'condition-part wide' : 'condition-part'}>
    <span>{label}</span>
    {children}
  </label>
);

type Of<Kind extends Condition['kind']> = Extract<Condition, { kind: Kind }>;

const AttributeParts = ({
  id,
  condition,
  onChange,
}: {
  id: string;
  condition: Of<'attribute'>;
  onChange(c: Condition): void;
}) => {
  const { operator, value } = condition;
  const needsValue = operator !== 'is known' && operator !== 'is not known';
  const shown = Array.isArray(value) ? value.map(typedOf).join(', ') : value === null ? '' : typedOf(value);
  const readValue = (typed: string, next: AttributeOperator) => {
    if (next === 'is known' || next === 'is not known') return null;
    if (next !== 'is one of') return scalarOf(typed);
    return typed
      .split(',')
      .filter((each) => each.trim() !== '')
      .map(scalarOf);
  };
  return (
    <>
      <Part label="Attribute" isWide>
        <input
          id={id}
          list="attribute-names"
          value={condition.name}
          placeholder="tier"
          autoComplete="off"
          onInput={(event) => onChange({ ...condition, name: event.currentTarget.value })}
        />
      </Part>
      <Part label="Comparison">
        <select
          value={operator}
          onChange={(event) => {
            const next = event.currentTarget.value as AttributeOperator;
            onChange({ ...condition, operator: next, value: readValue(shown, next) });
          }}
        >
          {OPERATORS.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </Part>
      {needsValue && (
        <Part label={operator === 'is one of' ? 'Values, separated by commas' : 'Value'} isWide>
          <input
            defaultValue={shown}
            key={operator}
            dir="auto"
            autoComplete="off"
            onInput={(event) =>
              onChange({ ...condition, value: readValue(event.currentTarget.value, operator) })
            }
          />
        </Part>
      )}
    </>
  );
};

const DoneParts = ({
  id,
  condition,
  onChange,
}: {
  id: string;
  condition: Of<'event' | 'purchase'>;
  onChange(c: Condition): void;
}) => {
  const { atLeast, withinDays } = condition;
  return (
    <>
      <Part label={condition.kind === 'event' ? 'Event' : 'Product ID'} isWide>
        <input
          id={id}
          value={condition.name}
          autoComplete="off"
          placeholder={condition.kind === 'event' ? 'added_to_cart' : 'teapot'}
          onInput={(event) => onChange({ ...condition, name: event.currentTarget.value })}
        />
      </Part>
      <Part label={condition.kind === 'event' ? 'Did it' : 'Bought it'}>
        <select
          value={atLeast === 0 ? 'never' : 'times'}
          onChange={(event) => {
            const isNever = event.currentTarget.value === 'never';
            onChange({ ...condition, atLeast: isNever ? 0 : 1, withinDays: isNever ? null : withinDays });
          }}
        >
          <option value="times">at least</option>
          <option value="never">never</option>
        </select>
      </Part>
      {atLeast > 0 && (
        <>
          <Part label="Times, ever">
            <input
              type="number"
              min="1"
              value={atLeast}
              onInput={(event) => {
                const times = event.currentTarget.valueAsNumber;
                if (times >= 1) onChange({ ...condition, atLeast: Math.floor(times) });
              }}
            />
          </Part>
          <Part label="Last within days">
            <input
              type="number"
              min="0"
              step="any"
              placeholder="ever"
              value={withinDays ?? ''}
              onInput={(event) => {
                const days = event.currentTarget.valueAsNumber;
                onChange({ ...condition, withinDays: days > 0 ? days : null });
              }}
            />
          </Part>
        </>
      )}
    </>
  );
};

const GroupParts = ({
  id,
  condition,
  onChange,
}: {
  id: string;
  condition: Of<'group'>;
  onChange(c: Condition): void;
}) => (
  <>
    <Part label="Subscription group" isWide>
      <select
        id={id}
        value={condition.id}
        onChange={(event) => onChange({ ...condition, id: event.currentTarget.value })}
      >
        <option value="">Choose …</option>
        {signedIn().workspace.subscriptionGroups.map((group) => (
          <option key={group.id} value={group.id}>
            {group.name}
          </option>
        ))}
      </select>
    </Part>
    <Part label="State">
      <select
        value={condition.state}
        onChange={(event) => onChange({ ...condition, state: event.currentTarget.value as 'subscribed' })}
      >
        <option>subscribed</option>
        <option>unsubscribed</option>
      </select>
    </Part>
  </>
);

const AppParts = ({
  id,
  condition,
  onChange,
}: {
  id: string;
  condition: Of<'app'>;
  onChange(c: Condition): void;
}) => (
  <Part label="App" isWide>
    <select
      id={id}
      value={condition.ids[0] ?? ''}
      onChange={(event) =>
        onChange({ ...condition, ids: event.currentTarget.value ? [event.currentTarget.value] : [] })
      }
    >
      <option value="">Choose …</option>
      {signedIn().workspace.apps.map((app) => (
        <option key={app.id} value={app.id}>
          {app.name}
        </option>
      ))}
    </select>
  </Part>
);

/** One line of the builder. */
export const ConditionRow = ({ id, condition, onChange, onRemove }: ConditionRowProps) => (
  <li class="condition">
    {condition.kind === 'attribute' && <AttributeParts id={id} condition={condition} onChange={onChange} />}
    {(condition.kind === 'event' || condition.kind === 'purchase') && (
      <DoneParts id={id} condition={condition} onChange={onChange} />
    )}
    {condition.kind === 'group' && <GroupParts id={id} condition={condition} onChange={onChange} />}
    {condition.kind === 'app' && <AppParts id={id} condition={condition} onChange={onChange} />}
    <button type="button" class="button quiet" aria-label="Remove this line" onClick={onRemove}>
      Remove
    </button>
  </li>
);
