import { formatScalar, isScalar, parseScalar, type Scalar } from '../scalar-text.ts';
import { type ConditionKind, formatValue, named, onlyEntry, plain, toOperators } from './condition-kind.ts';

const ATTRIBUTE_OPERATORS = [
  'is',
  'is not',
  'is one of',
  'more than',
  'at least',
  'less than',
  'at most',
  'is known',
  'is not known',
] as const;
export type AttributeOperator = (typeof ATTRIBUTE_OPERATORS)[number];

export interface AttributeCondition {
  kind: 'attribute';
  name: string;
  operator: AttributeOperator;
  value: Scalar | Scalar[] | null;
}

/** Operators by their name in the filter. */
const OPERATORS: Readonly<Record<string, AttributeOperator>> = {
  $eq: 'is',
  $ne: 'is not',
  $in: 'is one of',
  $gt: 'more than',
  $gte: 'at least',
  $lt: 'less than',
  $lte: 'at most',
};
const WIRE = Object.fromEntries(Object.entries(OPERATORS).map(([wire, operator]) => [operator, wire]));

const readCondition = (name: string, raw: unknown): AttributeCondition | 'unsupported' => {
  if (isScalar(raw)) return { kind: 'attribute', name, operator: 'is', value: raw };
  const [wire = '', operand] = onlyEntry(raw) ?? [];
  if (wire === '$exists' && typeof operand === 'boolean') {
    return { kind: 'attribute', name, operator: operand ? 'is known' : 'is not known', value: null };
  }
  const operator = OPERATORS[wire];
  if (!operator) return 'unsupported';
  if (operator === 'is one of') {
    const isList = Array.isArray(operand) && operand.every(isScalar);
    return isList ? { kind: 'attribute', name, operator, value: operand } : 'unsupported';
  }
  return isScalar(operand) ? { kind: 'attribute', name, operator, value: operand } : 'unsupported';
};

const COMPARISONS: Readonly<Record<string, (name: string, operand: unknown) => string>> = {
  $eq: (name, operand) => `${name} is ${formatValue(operand)}`,
  $ne: (name, operand) => `${name} is not ${formatValue(operand)}`,
  $gt: (name, operand) => `${name} is above ${formatValue(operand)}`,
  $gte: (name, operand) => `${name} is ${formatValue(operand)} or more`,
  $lt: (name, operand) => `${name} is below ${formatValue(operand)}`,
  $lte: (name, operand) => `${name} is ${formatValue(operand)} or less`,
  $veq: (name, operand) => `${name} is version ${String(operand)}`,
  $vgt: (name, operand) => `${name} is later than version ${String(operand)}`,
  $vgte: (name, operand) => `${name} is version ${String(operand)} or later`,
  $vlt: (name, operand) => `${name} is before version ${String(operand)}`,
  $vlte: (name, operand) => `${name} is version ${String(operand)} or before`,
  $ini: (name, operand) => `${name} is ${formatValue(operand)}, ignoring case`,
  $in: (name, operand) => `${name} is ${formatValue(operand)}`,
  $nin: (name, operand) => `${name} is none of ${formatValue(operand)}`,
  $exists: (name, operand) => `${name} is ${operand ? 'known' : 'not known'}`,
};

/** Describes an operator on a path. Quotes operators without a description as JSON. */
export const describeComparison = (path: string, operator: string, operand: unknown): string => {
  const name = plain(path.replace(/^custom_attributes\./, ''));
  return (
    COMPARISONS[operator]?.(name, operand) ?? `${name} matches ${JSON.stringify({ [operator]: operand })}`
  );
};

const needsValue = (operator: AttributeOperator) => operator !== 'is known' && operator !== 'is not known';

const readValue = (typed: string, operator: AttributeOperator): AttributeCondition['value'] => {
  if (!needsValue(operator)) return null;
  if (operator !== 'is one of') return parseScalar(typed);
  return typed.split(',').flatMap((each) => (each.trim() === '' ? [] : parseScalar(each)));
};

/** Fallback kind for names that no other kind matches. */
export const attribute: ConditionKind<AttributeCondition> = {
  label: 'Attribute',
  blank: () => ({ kind: 'attribute', name: '', operator: 'is', value: '' }),
  read: (name, filter) => {
    const result = name.startsWith('$') ? 'unsupported' : readCondition(name, filter[name]);
    return result === 'unsupported' ? result : { result, names: [name] };
  },
  write: ({ name, operator, value }) => {
    if (!needsValue(operator)) return { [name]: { $exists: operator === 'is known' } };
    return { [name]: operator === 'is' ? value : { [WIRE[operator]!]: value } };
  },
  describe: (name, filter) => ({
    result: Object.entries(toOperators(filter[name])).map(([operator, operand]) =>
      describeComparison(name, operator, operand),
    ),
    names: [name],
  }),
  isComplete: ({ name, value }) => name.trim() !== '' && value !== '',
  isUnknown: ({ name, operator }, { fields, attributes }) =>
    operator !== 'is not known' &&
    !fields.includes(name) &&
    // A dot in the name means a path in a nested object.
    !name.includes('.') &&
    !attributes.some((each) => each.name === name),
  controls: (condition) => {
    const { name, operator, value } = condition;
    const shown = Array.isArray(value)
      ? value.map(formatScalar).join(', ')
      : value === null
        ? ''
        : formatScalar(value);
    return [
      {
        label: 'Attribute',
        isWide: true,
        type: 'text',
        value: name,
        placeholder: 'tier',
        suggestions: 'attributes',
        onInput: (typed) => ({ ...condition, name: typed }),
      },
      {
        label: 'Comparison',
        type: 'select',
        value: operator,
        options: named(...ATTRIBUTE_OPERATORS),
        onChoose: (chosen) => {
          const next = ATTRIBUTE_OPERATORS.find((each) => each === chosen) ?? operator;
          return { ...condition, operator: next, value: readValue(shown, next) };
        },
      },
      ...(needsValue(operator)
        ? [
            {
              label: operator === 'is one of' ? 'Values, separated by commas' : 'Value',
              isWide: true,
              type: 'text' as const,
              value: shown,
              keptFor: operator,
              ...(operator !== 'is one of' && { suggestions: { attribute: name } }),
              onInput: (typed: string) => ({ ...condition, value: readValue(typed, operator) }),
            },
          ]
        : []),
    ];
  },
};
