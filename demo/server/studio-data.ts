import { readFileSync } from 'node:fs';
import type { WireBanner } from '../../src/protocol/index.ts';
import { createService, type Store, WorkspaceError } from '../../src/service/index.ts';
import { VISITORS } from '../shop/visitors.ts';
import type { CampaignText } from '../studio/campaign-text.ts';
import type { DraftProblem } from '../studio/draft-problem.ts';
import { liquidWords } from '../studio/liquid-words.ts';
import { APP_ID, CLIENT_KEY } from './keys.ts';
import { countResults } from './results.ts';

/** The members of a workspace file that the Studio shows; the keys are not among them. */
interface WorkspaceText {
  workspace_id: string;
  name?: string;
  placements?: { placement_id: string; name?: string }[];
  campaigns?: CampaignText[];
  [member: string]: unknown;
}

/** What a preview answers: the draft as this visitor would read it, and whether the rules give it to them now. */
export interface PreviewAnswer {
  banners: Record<string, WireBanner | null>;
  eligible: boolean;
}

/** ID of the draft while it is looked at: nobody has dismissed it, and no event can be counted for it. */
const PREVIEW_ID = 'studio-preview';

const IN_DRAFT = /^campaigns\[0\]\.(?:variants\[0\]\.)?/;
const IN_PROPERTY = /^properties(?:\.([\w$]+)|\[("(?:[^"\\]|\\.)*")\])[^:]*: (.*)$/s;
const OF_LIQUID = 'expected a Liquid template, got one that fails: ';

/** A draft is the only campaign of its service, and has one variant: the path up to its own members says nothing. */
const inForm = (problem: string): DraftProblem => {
  const told = problem.replace(IN_DRAFT, '');
  const [, plain, quoted, wrong = ''] = IN_PROPERTY.exec(told) ?? [];
  const property: string | undefined = plain ?? (quoted && JSON.parse(quoted));
  if (property === undefined) return { property: null, words: told };
  const isLiquid = wrong.startsWith(OF_LIQUID);
  return { property, words: isLiquid ? liquidWords(wrong.slice(OF_LIQUID.length)) : wrong };
};

const readWorkspace = (file: string): WorkspaceText => JSON.parse(readFileSync(file, 'utf8'));

/**
 * The Studio's side of the server. A preview runs the real rules and templates in a service of its own, made of the draft
 * alone, over the same users: what is seen is what would be sent, and nothing of it is stored or live.
 */
export const createStudioData = (store: Store, workspaceFile: string) => {
  // Looking costs nobody a request of theirs.
  const unlimited: Store = {
    ...store,
    takeRate: async () => ({ allowed: true, limit: 1, remaining: 1, resetAtMs: 0 }),
  };

  const askAs = async (userId: string, workspace: WorkspaceText, campaign: CampaignText) => {
    const service = createService({
      workspaces: [{ ...workspace, campaigns: [campaign] }],
      store: unlimited,
    });
    const placements = campaign.placements.slice(0, 10);
    const response = await service.fetch(
      new Request('http://localhost/v1/device-messaging/banners/sync', {
        method: 'POST',
        headers: { authorization: `Bearer ${CLIENT_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ external_user_id: userId, app_id: APP_ID, app_version: '1.0.0', placements }),
      }),
    );
    const answer: { banners?: Record<string, WireBanner | null>; error?: string } = await response.json();
    if (!answer.banners) throw new Error(answer.error ?? `The service answered ${response.status}`);
    return answer.banners;
  };

  return {
    async overview() {
      const { workspace_id, name, placements = [], campaigns = [] } = readWorkspace(workspaceFile);
      const results = await countResults(store, workspace_id);
      return { name: name ?? workspace_id, placements, campaigns, visitors: VISITORS, results };
    },

    /** Throws a `WorkspaceError` that names the path where the draft cannot be used. */
    async preview(userId: string, draft: CampaignText, variantId: string): Promise<PreviewAnswer> {
      const workspace = readWorkspace(workspaceFile);
      const variants = draft.variants.filter((variant) => variant.variant_id === variantId);
      const shown = { ...draft, campaign_id: PREVIEW_ID, status: 'active' as const, variants };
      // Once without rules, for a look at it whoever looks; once with them, for what they say of this visitor.
      const [banners, ruled] = await Promise.all([
        askAs(userId, workspace, {
          ...shown,
          audience: null,
          starts_at: null,
          ends_at: null,
          control_percentage: 0,
        }),
        askAs(userId, workspace, { ...shown, control_percentage: 0 }),
      ]);
      return { banners, eligible: Object.values(ruled).some((banner) => banner !== null) };
    },

    /** What is wrong with the draft itself, by the properties of its form; `null` where something else failed. */
    draftProblems: (error: unknown): DraftProblem[] | null =>
      error instanceof WorkspaceError ? error.problems.map(inForm) : null,
  };
};
