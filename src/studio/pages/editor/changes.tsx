import type { ChangeObject } from 'diff';
import type { CampaignJson } from '../../campaign/campaign-json.ts';
import { type Change, campaignChanges } from '../../campaign/changes.ts';
import { wholeMoment } from '../components/format.ts';
import { useLoad } from '../components/loading.tsx';
import { audienceName, placementName } from '../shell/session.ts';
import './blocks.css';

type Part = Pick<ChangeObject<string>, 'added' | 'removed' | 'value'>;

const whole = ({ before, after }: Change): Part[] => [
  { value: before, removed: true, added: false },
  { value: before && after && ' → ', removed: false, added: false },
  { value: after, removed: false, added: true },
];

/** Returns whether the texts share less than half of their characters, which would make a word diff unreadable. */
const isRewritten = (parts: readonly Part[], { before, after }: Change): boolean => {
  const letters = (text: string) => text.replace(/\s/g, '').length;
  const kept = parts.reduce(
    (sum, { added, removed, value }) => sum + (added || removed ? 0 : letters(value)),
    0,
  );
  return kept * 2 < Math.max(letters(before), letters(after));
};

/** Returns a word diff. The library is lazy-loaded. */
const useWords = (change: Change): Part[] => {
  const { before, after } = change;
  const { loaded } = useLoad(
    async () => {
      if (change.isWhole) return whole(change);
      const parts = (await import('diff')).diffWordsWithSpace(before, after);
      return isRewritten(parts, change) ? whole(change) : parts;
    },
    JSON.stringify([before, after]),
  );
  // Shows both texts in full until the library is loaded, or if it fails.
  const parts: Part[] = loaded.state === 'ready' ? loaded.value : whole(change);
  return parts.filter(({ value }) => value !== '');
};

const ChangeRow = ({ change }: { change: Change }) => (
  <div class="change">
    <dt>{change.label}</dt>
    <dd dir="auto">
      {useWords(change).map(({ added, removed, value }, index) => {
        const Part = added ? 'ins' : removed ? 'del' : 'span';
        // biome-ignore lint/suspicious/noArrayIndexKey: a part of a text is what stands at its position
        return <Part key={index}>{value}</Part>;
      })}
    </dd>
  </div>
);

/** Differences between two campaigns. */
export const Changes = ({ before, after }: { before: CampaignJson | null; after: CampaignJson | null }) => {
  const changes = campaignChanges(before, after, {
    placement: placementName,
    moment: wholeMoment,
    audience: audienceName,
  });
  if (changes.length === 0) return <p class="muted">No differences.</p>;
  return (
    <dl class="changes">
      {changes.map((change) => (
        <ChangeRow key={change.label} change={change} />
      ))}
    </dl>
  );
};
