import type { Campaign, Variant } from './campaign.ts';
import type { Cap } from './frequency.ts';
import type { PassedOver } from './judge.ts';

/** The outcome of one campaign in one placement. */
export type Step = { placementId: string; campaign: Campaign } & (
  | { outcome: PassedOver }
  | { outcome: 'capped'; cap: Cap }
  /** The user could get it, but a campaign before it has the placement. */
  | { outcome: 'outranked'; by: Campaign }
  | { outcome: 'unfilled'; variantId: string | null; error: unknown }
  /** It has the placement, and shows nothing there: the user is in its control group. */
  | { outcome: 'held_out'; bannerId: string }
  | { outcome: 'shown'; bannerId: string; variant: Variant; isTestSend: boolean }
);

/** Called once for each campaign of each placement, in the order in which they are considered. */
export type Trace = (step: Step) => void;
