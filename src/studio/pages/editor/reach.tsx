import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { CampaignText } from '../../campaign/campaign-text.ts';
import type { ReachAnswer } from '../../server/routes/reach.ts';
import { call } from '../call.ts';
import { countText } from '../parts/numbers.ts';

/** Pause in typing after which users are counted. */
const TYPING_MS = 400;

const reachWords = ({ users, atLeast, atMost, of, fewerThan }: ReachAnswer): string => {
  const all = `${countText(of)} ${of === 1 ? 'user' : 'users'}`;
  if (fewerThan !== null) return `Reaches fewer than ${fewerThan} of ${all}.`;
  if (atLeast === atMost) return `Reaches ${countText(users)} of ${all}.`;
  return `Reaches about ${countText(users)} of ${all}: between ${countText(atLeast)} and ${countText(atMost)}.`;
};

const words = (reach: ReachAnswer): string => {
  const { users, of, shown, fewerThan } = reach;
  if (of === 0) return 'There are no users yet.';
  const reached = reachWords(reach);
  if (fewerThan !== null || shown === users) return reached;
  if (shown === 0) {
    return `${reached} Nobody of them would see it: a campaign that comes before it, or its control group, takes them all.`;
  }
  return `${reached} About ${countText(shown)} of them would see it: a campaign that comes before it, or its control group, takes the others.`;
};

/** How many users the audience of a draft holds. */
export const Reach = ({ campaign }: { campaign: CampaignText }) => {
  const answer = useSignal<ReachAnswer | null>(null);
  const isCounting = useSignal(true);
  const { audience = null, placements, priority, starts_at, control_percentage } = campaign;
  const asked = JSON.stringify([audience, placements, priority, starts_at, control_percentage]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: nothing else of a campaign changes its reach
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
