import type { OnClickText, VariantText } from '../../campaign/campaign-text.ts';
import { scalarOf, typedOf } from '../../campaign/scalar-text.ts';
import type { DraftCheck } from '../../server/check-draft.ts';
import { checksAt, describedBy, Field, ListField } from '../parts/fields.tsx';
import { EVENT_NAMES, NameLists, useNames } from '../parts/names.tsx';

interface OnClickProps {
  variant: VariantText;
  checks: readonly DraftCheck[];
  change(make: (before: VariantText) => VariantText, mark: string): void;
}

/** What a click does to the user, beside being counted. */
export const OnClick = ({ variant, checks, change }: OnClickProps) => {
  const { event, attributes } = variant.on_click ?? {};
  const put = (changed: OnClickText) =>
    change(({ on_click: before, ...rest }) => {
      const next = { ...before, ...changed };
      const isEmpty = !next.event && Object.keys(next.attributes ?? {}).length === 0;
      return isEmpty ? rest : { ...rest, on_click: next };
    }, 'on click');
  return (
    <>
      <NameLists names={useNames()} />
      <Field
        id="on-click-event"
        label="A click logs the event"
        help="Once, with the user, like one that your backend sends: a goal or an audience may ask for it. Empty: none."
        checks={checksAt(checks, 'event')}
      >
        <input
          id="on-click-event"
          list={EVENT_NAMES}
          autoComplete="off"
          maxLength={255}
          value={event ?? ''}
          aria-describedby={describedBy('on-click-event')}
          onInput={({ currentTarget: { value } }) => put({ event: value === '' ? null : value })}
        />
      </Field>
      <ListField
        id="on-click-attributes"
        label="A click sets attributes"
        help="Each as name=value, separated by commas: wants_news=true, tier=gold. Empty: none."
        checks={checksAt(checks, 'attributes')}
        values={Object.entries(attributes ?? {}).map(([name, value]) => `${name}=${typedOf(value)}`)}
        onChange={(lines) => {
          const pairs = lines.flatMap((line) => {
            const [, name, value] = /^([^=]+)=(.*)$/s.exec(line) ?? [];
            return name === undefined ? [] : [[name.trim(), scalarOf(value!)] as const];
          });
          put({ attributes: pairs.length > 0 ? Object.fromEntries(pairs) : null });
        }}
      />
    </>
  );
};
