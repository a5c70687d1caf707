import { askPreview, type Preview } from './ask-server.ts';
import type { CampaignText } from './campaign-text.ts';
import { problemLines } from './draft-problem.ts';

/** Longer than this nobody waits for what the service says of a copy. */
const ANSWER_MS = 5_000;

const verdictOf = (preview: Preview): string =>
  'problems' in preview
    ? `Copied, but the service would refuse it as it is: ${problemLines(preview.problems)}`
    : 'Copied. Paste it into the workspace file to make it live.';

/** Copies a campaign's text and says what to tell about it: it may be half-done work, which the service would refuse. */
export const copyDraft = async (
  text: string,
  shown: { campaign: CampaignText; variantId: string; userId: string },
): Promise<string> => {
  const asked = askPreview(shown, AbortSignal.timeout(ANSWER_MS)).then(
    verdictOf,
    () => 'Copied. The server does not answer, so nobody has checked it.',
  );
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // The browser may refuse the clipboard; the text itself is then the next best thing.
    return text;
  }
  return asked;
};
