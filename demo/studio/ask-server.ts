import type { Banner } from '../../src/client/index.ts';
import type { WireBanner } from '../../src/protocol/index.ts';
import type { Results } from '../server/results.ts';
import type { PreviewAnswer } from '../server/studio-data.ts';
import type { Visitor } from '../shop/visitors.ts';
import type { CampaignText } from './campaign-text.ts';
import type { DraftProblem } from './draft-problem.ts';

export interface Overview {
  name: string;
  placements: { placement_id: string; name?: string }[];
  campaigns: CampaignText[];
  visitors: Visitor[];
  results: Results;
}

export type Preview =
  | { eligible: boolean; banners: Record<string, Banner | null> }
  | { problems: DraftProblem[] };

export const askOverview = async (): Promise<Overview> => {
  const response = await fetch('/demo/studio');
  if (!response.ok) throw new Error(`The server answered ${response.status}`);
  return response.json();
};

const fromWire = (wire: WireBanner | null): Banner | null =>
  wire && {
    id: wire.id,
    placementId: wire.placement_id,
    isControl: wire.is_control,
    isTestSend: true,
    expiresAt: null,
    properties: wire.properties ?? {},
  };

/** The draft as the service would send it to this visitor, or what is wrong with it. */
export const askPreview = async (
  draft: { campaign: CampaignText; variantId: string; userId: string },
  signal: AbortSignal,
): Promise<Preview> => {
  const response = await fetch('/demo/preview', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(draft),
    signal,
  });
  const answer: PreviewAnswer | { problems: DraftProblem[] } = await response.json();
  if ('problems' in answer) return answer;
  const banners = Object.fromEntries(
    Object.entries(answer.banners).map(([id, wire]) => [id, fromWire(wire)]),
  );
  return { eligible: answer.eligible, banners };
};
