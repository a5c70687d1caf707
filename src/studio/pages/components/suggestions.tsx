import type { SuggestionsResponse } from '../../server/routes/suggestions.ts';
import { useGet } from './loading.tsx';

/** IDs of the `<datalist>` elements. */
export const ATTRIBUTE_NAMES = 'attribute-names';
export const EVENT_NAMES = 'event-names';
export const PRODUCT_IDS = 'product-ids';
export const getValuesListId = (attribute: string) => `values-of-${attribute}`;

const List = ({ id, values }: { id: string; values: readonly string[] }) => (
  <datalist id={id}>
    {values.map((value) => (
      <option key={value} value={value} />
    ))}
  </datalist>
);

/** Returns suggested names from a sample of users; `null` until loaded. */
export const useNames = (): SuggestionsResponse | null => {
  const { loaded } = useGet<SuggestionsResponse>('/api/suggestions');
  return loaded.state === 'ready' ? loaded.value : null;
};

/** `<datalist>` elements of suggestions. Fields also work without suggestions, for example offline. */
export const NameLists = ({ names }: { names: SuggestionsResponse | null }) =>
  names && (
    <>
      <List id={ATTRIBUTE_NAMES} values={names.attributes.map(({ name }) => name)} />
      {names.attributes.map(({ name, values }) => (
        <List key={name} id={getValuesListId(name)} values={values} />
      ))}
      <List id={EVENT_NAMES} values={names.events} />
      <List id={PRODUCT_IDS} values={names.products} />
    </>
  );
