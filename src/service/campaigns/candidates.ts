import type { Workspace } from '../workspace/workspace.ts';
import type { Campaign } from './campaign.ts';

const RANK = { high: 0, medium: 1, low: 2 };

/** Higher priority first; of the same priority the one that starts later; else the order of the file. */
const inOrder = (one: Campaign, other: Campaign): number =>
  RANK[one.priority] - RANK[other.priority] || (other.startsAtMs ?? 0) - (one.startsAtMs ?? 0);

interface Candidates {
  active: readonly Campaign[];
  /** Those that name test users, whatever their status. */
  tests: readonly Campaign[];
}

/** Sorted once a workspace; a reload makes a new workspace, and the old one goes with its order. */
const sorted = new WeakMap<Workspace, Candidates>();

const sortedOf = (workspace: Workspace): Candidates => {
  const known = sorted.get(workspace);
  if (known) return known;
  const campaigns = workspace.campaigns.toSorted(inOrder);
  const made = {
    active: campaigns.filter(({ status }) => status === 'active'),
    tests: campaigns.filter(({ testUsers }) => testUsers.size > 0),
  };
  sorted.set(workspace, made);
  return made;
};

/** The campaigns that may be shown to a user, the best first: those that test on this user come before all others. */
export const candidatesFor = (workspace: Workspace, externalUserId: string): readonly Campaign[] => {
  const { active, tests } = sortedOf(workspace);
  if (tests.length === 0) return active;
  const testing = tests.filter(({ testUsers }) => testUsers.has(externalUserId));
  if (testing.length === 0) return active;
  return [...testing, ...active.filter((campaign) => !testing.includes(campaign))];
};
