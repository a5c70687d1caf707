import type { AttributeOperator } from '../../campaign/audience-model.ts';
import { scalarOf, typedOf } from '../../campaign/scalar-text.ts';
import { ConditionPart, type PartsProps } from './condition-part.tsx';

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

/** A line about an attribute: its name, a comparison, a value. */
export const AttributeParts = ({ id, condition, onChange }: PartsProps<'attribute'>) => {
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
      <ConditionPart label="Attribute" isWide>
        <input
          id={id}
          list="attribute-names"
          value={condition.name}
          placeholder="tier"
          autoComplete="off"
          onInput={(event) => onChange({ ...condition, name: event.currentTarget.value })}
        />
      </ConditionPart>
      <ConditionPart label="Comparison">
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
      </ConditionPart>
      {needsValue && (
        <ConditionPart label={operator === 'is one of' ? 'Values, separated by commas' : 'Value'} isWide>
          <input
            defaultValue={shown}
            key={operator}
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
