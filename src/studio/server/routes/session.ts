import type { Role } from '../../../service/index.ts';
import type { StudioRoute } from '../route.ts';

/** Who is signed in, and what the screens need to know of the workspace. */
export interface SessionAnswer {
  operator: { name: string; role: Role; people: boolean };
  workspace: {
    id: string;
    name: string;
    campaignsFrom: 'file' | 'studio';
    /** `null` where the file lists none: a campaign may name any. */
    placements: { id: string; name: string; template: 'strip' | 'card' | 'hero' | null }[] | null;
    apps: { id: string; name: string }[];
    subscriptionGroups: { id: string; name: string }[];
    personas: string[];
    sites: string[];
    timeZone: string;
    secondOperator: boolean;
    tagCaps: { tag: string; campaignsPerDay: number }[];
  };
}

export const readSession: StudioRoute = {
  method: 'GET',
  path: '/api/session',
  role: 'view',
  answer: ({ operator, workspace }) => {
    const { studio } = workspace;
    const body: SessionAnswer = {
      operator: { name: operator.name, role: operator.role, people: operator.people },
      workspace: {
        id: workspace.workspaceId,
        name: workspace.name,
        campaignsFrom: workspace.campaignsFrom,
        placements:
          workspace.placements?.map(({ placementId, name, template }) => ({
            id: placementId,
            name,
            template,
          })) ?? null,
        apps: workspace.apps.map(({ appId, name }) => ({ id: appId, name })),
        subscriptionGroups: [...workspace.subscriptionGroups].map(([id, { name }]) => ({ id, name })),
        personas: studio.personas.map(({ name }) => name),
        sites: [...studio.sites],
        timeZone: studio.timeZone,
        secondOperator: studio.secondOperator,
        tagCaps: workspace.tagCaps.map(({ tag, campaignsPerDay }) => ({ tag, campaignsPerDay })),
      },
    };
    return { status: 200, body };
  },
};

export const endSession: StudioRoute = {
  method: 'DELETE',
  path: '/api/session',
  role: 'view',
  answer: async ({ studio, sessionId, audit }) => {
    await studio.closeSession(sessionId);
    await audit('sign out', '');
    return { status: 204, endsSession: true };
  },
};
