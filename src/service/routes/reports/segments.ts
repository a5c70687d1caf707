import * as z from 'zod/mini';
import { described } from '../../../protocol/schemas/index.ts';
import { defineRoute } from '../../api/route.ts';
import { HttpError } from '../../http/http-request.ts';
import { getPage, id, listQuery, message, REPORT } from './report.ts';

export const segmentsList = defineRoute({
  ...REPORT,
  path: '/segments/list',
  permission: 'segments.list',
  query: z.object(listQuery),
  operation: {
    id: 'listSegments',
    tag: 'Campaigns',
    summary: 'List segments',
    description: '100 a page, in the order of the workspace file. A page past the end is empty.',
    badRequest: 'A parameter is invalid.',
  },
  response: {
    status: 200,
    schema: z.object({
      segments: z
        .array(
          z.object({
            id: z.string().check(described('ID.')),
            name: z.string().check(described('Name.')),
            analytics_tracking_enabled: z.boolean().check(described('Always `false`.')),
            tags: z.array(z.string()).check(described('Tags.')),
          }),
        )
        .check(described('At most 100.')),
      message,
    }),
  },
  handler({ workspace, query, metrics }) {
    const all = [...workspace.segments.values()];
    const segments = getPage(all, query.page, query.sort_direction).map(({ segmentId, name }) => ({
      id: segmentId,
      name,
      analytics_tracking_enabled: false,
      tags: [],
    }));
    metrics.objects('segments', segments.length);
    return { body: { segments, message: 'success' } };
  },
});

export const segmentsDetails = defineRoute({
  ...REPORT,
  path: '/segments/details',
  permission: 'segments.details',
  query: z.object({ segment_id: id('segment_id') }),
  operation: {
    id: 'getSegmentDetails',
    tag: 'Campaigns',
    summary: 'Get a segment',
    description: 'Name and filter of a segment.',
    badRequest: 'The segment is unknown.',
  },
  response: {
    status: 200,
    schema: z.object({
      created_at: z.null().check(described('Not recorded.')),
      updated_at: z.null().check(described('Not recorded.')),
      name: z.string().check(described('Name.')),
      description: z.string().check(described('Filter, as JSON in MongoDB query form.')),
      text_description: z.string().check(described('The same.')),
      tags: z.array(z.string()).check(described('Always empty.')),
      teams: z.array(z.string()).check(described('Always empty.')),
      message,
    }),
  },
  handler({ workspace, query }) {
    const segment = workspace.segments.get(query.segment_id);
    if (!segment) throw new HttpError(400, 'Invalid segment_id');
    const description = JSON.stringify(segment.filter);
    return {
      body: {
        created_at: null,
        updated_at: null,
        name: segment.name,
        description,
        text_description: description,
        tags: [],
        teams: [],
        message: 'success',
      },
    };
  },
});
