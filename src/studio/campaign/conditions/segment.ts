import { type ConditionKind, idControl, named, onlyEntry } from './condition-kind.ts';

export interface SegmentCondition {
  kind: 'segment';
  id: string;
  isIn: boolean;
}

export const segment: ConditionKind<SegmentCondition> = {
  label: 'Segment',
  blank: () => ({ kind: 'segment', id: '', isIn: true }),
  read: (name, filter) => {
    const raw = filter[name];
    if (name === '$segment' && typeof raw === 'string') {
      return { result: { kind: 'segment', id: raw, isIn: true }, names: [name] };
    }
    const [only, more] = name === '$nor' && Array.isArray(raw) ? raw : [];
    const [key, id] = onlyEntry(only) ?? [];
    if (more !== undefined || key !== '$segment' || typeof id !== 'string') return null;
    return { result: { kind: 'segment', id, isIn: false }, names: [name] };
  },
  write: ({ id, isIn }) => (isIn ? { $segment: id } : { $nor: [{ $segment: id }] }),
  describe: (name, filter, getName) =>
    name === '$segment'
      ? { result: [`in segment “${getName('segment', String(filter[name]))}”`], names: [name] }
      : null,
  isComplete: ({ id }) => id !== '',
  controls: (condition, { segments }) => [
    {
      label: 'They are',
      type: 'select',
      value: condition.isIn ? 'in' : 'not in',
      options: named('in', 'not in'),
      onChoose: (chosen) => ({ ...condition, isIn: chosen === 'in' }),
    },
    idControl('Segment', segments, condition.id, (id) => ({ ...condition, id })),
  ],
};
