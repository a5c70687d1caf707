import { ConditionPart, type PartsProps } from './condition-part.tsx';

/** A line about something people did or bought: what, how often, how lately. */
export const DoneParts = ({ id, condition, onChange }: PartsProps<'event' | 'purchase'>) => {
  const { atLeast, withinDays } = condition;
  return (
    <>
      <ConditionPart label={condition.kind === 'event' ? 'Event' : 'Product ID'} isWide>
        <input
          id={id}
          value={condition.name}
          autoComplete="off"
          placeholder={condition.kind === 'event' ? 'added_to_cart' : 'teapot'}
          onInput={(event) => onChange({ ...condition, name: event.currentTarget.value })}
        />
      </ConditionPart>
      <ConditionPart label={condition.kind === 'event' ? 'Did it' : 'Bought it'}>
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
