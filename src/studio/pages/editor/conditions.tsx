import type { ComponentChildren } from 'preact';
import {
  ATTRIBUTE_OPERATORS,
  type AttributeOperator,
  type Condition,
} from '../../campaign/audience-model.ts';
import { scalarOf, typedOf } from '../../campaign/scalar-text.ts';
import { type Option, RemoveButton, Select } from '../parts/controls.tsx';
import { ATTRIBUTE_NAMES, EVENT_NAMES, PRODUCT_IDS, valuesOf } from '../parts/names.tsx';
import { signedIn } from '../shell/session.ts';

interface PartsProps<Kind extends Condition['kind']> {
  /** ID of the first control. */
  id: string;
  condition: Extract<Condition, { kind: Kind }>;
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

const named = <Value extends string>(...values: Value[]): Option<Value>[] =>
  values.map((value) => ({ value, name: value }));

/** A line about an attribute: its name, a comparison, a value. */
const AttributeParts = ({ id, condition, onChange }: PartsProps<'attribute'>) => {
  const { operator, value } = condition;
  const needsValue = operator !== 'is known' && operator !== 'is not known';
  const shown = Array.isArray(value) ? value.map(typedOf).join(', ') : value === null ? '' : typedOf(value);
  const readValue = (typed: string, next: AttributeOperator) => {
    if (next === 'is known' || next === 'is not known') return null;
    if (next !== 'is one of') return scalarOf(typed);
    return typed.split(',').flatMap((each) => (each.trim() === '' ? [] : scalarOf(each)));
  };
  return (
    <>
      <ConditionPart label="Attribute" isWide>
        <input
          id={id}
          list={ATTRIBUTE_NAMES}
          value={condition.name}
          placeholder="tier"
          autoComplete="off"
          onInput={(event) => onChange({ ...condition, name: event.currentTarget.value })}
        />
      </ConditionPart>
      <ConditionPart label="Comparison">
        <Select
          value={operator}
          options={named(...ATTRIBUTE_OPERATORS)}
          onChoose={(next) => onChange({ ...condition, operator: next, value: readValue(shown, next) })}
        />
      </ConditionPart>
      {needsValue && (
        <ConditionPart label={operator === 'is one of' ? 'Values, separated by commas' : 'Value'} isWide>
          <input
            defaultValue={shown}
            key={operator}
            list={operator === 'is one of' ? undefined : valuesOf(condition.name)}
            dir="auto"
            autoComplete="off"
            onInput={(event) =>
              onChange({ ...condition, value: readValue(event.currentTarget.value, operator) })
            }
          />
        </ConditionPart>
      )}
    </>
  );
};

interface ChoiceProps {
  id: string;
  label: string;
  options: readonly { id: string; name: string }[];
  chosen: string;
  onChoose(id: string): void;
}

/** One of what the workspace has. */
const Choice = ({ id, label, options, chosen, onChoose }: ChoiceProps) => (
  <ConditionPart label={label} isWide>
    <Select
      id={id}
      value={chosen}
      options={[
        { value: '', name: 'Choose …' },
        ...options.map((each) => ({ value: each.id, name: each.name })),
      ]}
      onChoose={onChoose}
    />
  </ConditionPart>
);

/** A line about a subscription group. */
const GroupParts = ({ id, condition, onChange }: PartsProps<'group'>) => (
  <>
    <Choice
      id={id}
      label="Subscription group"
      options={signedIn().workspace.subscriptionGroups}
      chosen={condition.id}
      onChoose={(group) => onChange({ ...condition, id: group })}
    />
    <ConditionPart label="State">
      <Select
        value={condition.state}
        options={named('subscribed', 'unsubscribed')}
        onChoose={(state) => onChange({ ...condition, state })}
      />
    </ConditionPart>
  </>
);

/** A line about a segment. */
const SegmentParts = ({ id, condition, onChange }: PartsProps<'segment'>) => (
  <>
    <ConditionPart label="They are">
      <Select
        value={condition.isIn ? 'in' : 'not in'}
        options={named('in', 'not in')}
        onChoose={(chosen) => onChange({ ...condition, isIn: chosen === 'in' })}
      />
    </ConditionPart>
    <Choice
      id={id}
      label="Segment"
      options={signedIn().workspace.segments}
      chosen={condition.id}
      onChoose={(segment) => onChange({ ...condition, id: segment })}
    />
  </>
);

/** A line about the app that asks. */
const AppParts = ({ id, condition, onChange }: PartsProps<'app'>) => (
  <Choice
    id={id}
    label="App"
    options={signedIn().workspace.apps}
    chosen={condition.ids[0] ?? ''}
    onChoose={(app) => onChange({ ...condition, ids: app ? [app] : [] })}
  />
);

/** A line about something people did or bought: what, how often, how lately. */
const DoneParts = ({ id, condition, onChange }: PartsProps<'event' | 'purchase'>) => {
  const { atLeast, withinDays } = condition;
  return (
    <>
      <ConditionPart label={condition.kind === 'event' ? 'Event' : 'Product ID'} isWide>
        <input
          id={id}
          value={condition.name}
          autoComplete="off"
          list={condition.kind === 'event' ? EVENT_NAMES : PRODUCT_IDS}
          placeholder={condition.kind === 'event' ? 'added_to_cart' : 'teapot'}
          onInput={(event) => onChange({ ...condition, name: event.currentTarget.value })}
        />
      </ConditionPart>
      <ConditionPart label={condition.kind === 'event' ? 'Did it' : 'Bought it'}>
        <Select
          value={atLeast === 0 ? 'never' : 'at least'}
          options={named('at least', 'never')}
          onChoose={(chosen) =>
            onChange({
              ...condition,
              ...(chosen === 'never' ? { atLeast: 0, withinDays: null } : { atLeast: 1 }),
            })
          }
        />
      </ConditionPart>
      {atLeast > 0 && (
        <>
          <ConditionPart label="Times">
            <input
              type="number"
              min="1"
              value={atLeast}
              onInput={(event) => {
                const times = event.currentTarget.valueAsNumber;
                if (times >= 1) onChange({ ...condition, atLeast: Math.floor(times) });
              }}
            />
          </ConditionPart>
          <ConditionPart label="Last in days">
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
          </ConditionPart>
        </>
      )}
    </>
  );
};

interface ConditionRowProps {
  /** ID of its first control. */
  id: string;
  condition: Condition;
  /** It says nothing yet. */
  isIncomplete: boolean;
  /** No user has what it names. */
  isUnknown: boolean;
  onChange(condition: Condition): void;
  onRemove(): void;
}

/** One line of the builder. */
export const ConditionRow = (props: ConditionRowProps) => {
  const { id, condition, isIncomplete, isUnknown, onChange, onRemove } = props;
  return (
    <li class="row low sunk condition">
      {condition.kind === 'attribute' && <AttributeParts id={id} condition={condition} onChange={onChange} />}
      {(condition.kind === 'event' || condition.kind === 'purchase') && (
        <DoneParts id={id} condition={condition} onChange={onChange} />
      )}
      {condition.kind === 'group' && <GroupParts id={id} condition={condition} onChange={onChange} />}
      {condition.kind === 'segment' && <SegmentParts id={id} condition={condition} onChange={onChange} />}
      {condition.kind === 'app' && <AppParts id={id} condition={condition} onChange={onChange} />}
      <RemoveButton label="Remove this line" onClick={onRemove} />
      {isIncomplete && <p class="field-help">Not filled in yet: it does not count.</p>}
      {isUnknown && (
        <p class="field-warning">None of the users who were looked at has this: is it spelled like that?</p>
      )}
    </li>
  );
};
