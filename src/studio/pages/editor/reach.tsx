import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Reach as ReachAnswer } from '../../../service/index.ts';
import type { CampaignText } from '../../campaign/campaign-text.ts';
import { call } from '../call.ts';
import { countText } from '../parts/numbers.ts';

/** Pause in typing after which users are counted. */
const TYPING_MS = 400;

const words = ({ users, atLeast, atMost, of }: ReachAnswer): string => {
  if (of === 0) return 'There are no users yet.';
  const all = `${countText(of)} ${of === 1 ? 'user' : 'users'}`;
  if (atLeast === atMost) return `Reaches ${countText(users)} of ${all}.`;
  return `Reaches about ${countText(users)} of ${all}: between ${countText(atLeast)} and ${countText(atMost)}.`;
};

/** How many users the audience of a draft holds. */
export const Reach = ({ campaign }: { campaign: CampaignText }) => {
  const answer = useSignal<ReachAnswer | null>(null);
  const isCounting = useSignal(true);
  const asked = JSON.stringify(campaign.audience ?? null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another audience has another reach
  useEffect(() => {
    const leaving = new AbortController();
    isCounting.value = true;
    const timer = setTimeout(() => {
      call<ReachAnswer>('POST', '/api/reach', { body: { campaign }, signal: leaving.signal }).then(
        (reach) => {
          answer.value = reach;
          isCounting.value = false;
        },
        () => {
          if (leaving.signal.aborted) return;
          // A draft that cannot be read yet has no number; its checks say why.
          answer.value = null;
          isCounting.value = false;
        },
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [asked]);
  return (
    <p class="audience-reach" role="status" aria-busy={isCounting.value}>
      {answer.value ? words(answer.value) : isCounting.value ? 'Counting …' : 'Not counted yet.'}
    </p>
  );
};
