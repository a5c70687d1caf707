import type { StudioRoute } from '../route.ts';

/** What the list says of a campaign. */
export interface FirstNumber {
  /** Users who saw one of its variants, and those of them who clicked. */
  people: number;
  clicked: number;
}

/** The first number of every campaign that somebody has seen, by its ID. */
export const readNumbers: StudioRoute = {
  method: 'GET',
  path: '/api/numbers',
  role: 'view',
  answer: async ({ store, workspace }) => {
    const found = await store.campaignNumbers(workspace.workspaceId);
    const numbers = Object.fromEntries(
      found.map(({ campaignId, exposed, clicked }): [string, FirstNumber] => [
        campaignId,
        { people: exposed, clicked },
      ]),
    );
    return { status: 200, body: { numbers } };
  },
};
