/** Demo user. The server sets the attributes, and the page has only the name. */
export interface Visitor {
  id: string;
  label: string;
  attributes: Record<string, unknown>;
}

export const VISITORS: readonly Visitor[] = [
  { id: 'mira', label: 'Mira, here for the first time', attributes: { first_name: 'Mira', language: 'en' } },
  {
    id: 'jonas',
    label: 'Jonas, gold member',
    attributes: { first_name: 'Jonas', language: 'en', tier: 'gold', orders: 7 },
  },
  {
    id: 'layla',
    label: 'Layla, reads Arabic',
    attributes: { first_name: 'ليلى', language: 'ar' },
  },
];
