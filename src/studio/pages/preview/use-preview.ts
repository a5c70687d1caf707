import { useEffect, useState } from 'preact/hooks';
import type { CampaignText } from '../../campaign/campaign-text.ts';
import type { PreviewAnswer } from '../../server/routes/preview.ts';
import { call, wordsOf } from '../call.ts';

/** Pause in typing after which the preview follows. */
const TYPING_MS = 120;

/** What a person would read of a draft, a moment after it was typed. */
export const usePreview = (body: { campaign: CampaignText; variant_id: string; person: object }) => {
  const [answer, setAnswer] = useState<PreviewAnswer | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const asked = JSON.stringify(body);
  useEffect(() => {
    const leaving = new AbortController();
    const timer = setTimeout(() => {
      call<PreviewAnswer>('POST', '/api/preview', { body: JSON.parse(asked), signal: leaving.signal }).then(
        (next) => {
          // Half-written Liquid leaves the last good picture where it was.
          setAnswer((last) => (next.properties === null && last !== null ? last : next));
          setProblem(null);
        },
        (error: unknown) => {
          if (!leaving.signal.aborted) setProblem(wordsOf(error));
        },
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [asked]);
  return { answer, problem };
};
