import * as z from 'zod/mini';
import type { Permission } from '../../../protocol/index.ts';
import { described } from '../../../protocol/schemas/index.ts';
import { defineRoute } from '../../api/route.ts';
import { message, REPORT } from './report.ts';

interface Unmeasured {
  path: string;
  permission: Permission;
  /** Response member that contains the empty list. */
  member: string;
  id: string;
  summary: string;
}

/** Reports without data in Placard. They respond with empty lists, because connectors would stop at a 404. */
const UNMEASURED: readonly Unmeasured[] = [
  {
    path: '/segments/data_series',
    permission: 'segments.data_series',
    member: 'data',
    id: 'getSegmentSeries',
    summary: 'Size of a segment over time: not measured',
  },
  {
    path: '/kpi/dau/data_series',
    permission: 'kpi.dau.data_series',
    member: 'data',
    id: 'getDailyActiveUsers',
    summary: 'Daily active users: not measured',
  },
  {
    path: '/kpi/mau/data_series',
    permission: 'kpi.mau.data_series',
    member: 'data',
    id: 'getMonthlyActiveUsers',
    summary: 'Monthly active users: not measured',
  },
  {
    path: '/kpi/new_users/data_series',
    permission: 'kpi.new_users.data_series',
    member: 'data',
    id: 'getNewUsers',
    summary: 'New users by day: not measured',
  },
  {
    path: '/kpi/uninstalls/data_series',
    permission: 'kpi.uninstalls.data_series',
    member: 'data',
    id: 'getUninstalls',
    summary: 'Uninstalls by day: not measured',
  },
  {
    path: '/sessions/data_series',
    permission: 'sessions.data_series',
    member: 'data',
    id: 'getSessions',
    summary: 'Sessions by day: not measured',
  },
  {
    path: '/canvas/list',
    permission: 'canvas.list',
    member: 'canvases',
    id: 'listCanvases',
    summary: 'Canvases: Placard has none',
  },
  {
    path: '/feed/list',
    permission: 'feed.list',
    member: 'cards',
    id: 'listCards',
    summary: 'News feed cards: Placard has none',
  },
];

export const unmeasured = UNMEASURED.map(({ path, permission, member, id, summary }) =>
  defineRoute({
    ...REPORT,
    path,
    permission,
    operation: {
      id,
      tag: 'Unmeasured',
      summary,
      description: 'Always responds with an empty list, so that connectors which read it continue.',
    },
    response: {
      status: 200,
      schema: z.object({
        [member]: z.array(z.never()).check(described('Always empty.')),
        message,
      }),
    },
    handler: () => ({ body: { [member]: [], message: 'success' } }),
  }),
);
