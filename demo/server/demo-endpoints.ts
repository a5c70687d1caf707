import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import type { CampaignText } from '../studio/campaign-text.ts';
import type { DraftProblem } from '../studio/draft-problem.ts';
import { SECURITY_HEADERS } from './security-headers.ts';
import type { createShopActions } from './shop-actions.ts';
import type { createStudioData } from './studio-data.ts';

const MAX_BODY_BYTES = 512 * 1024;

interface Endpoints {
  shop: Pick<ReturnType<typeof createShopActions>, 'act'>;
  studio: ReturnType<typeof createStudioData>;
}

const previewBody = z.object({
  userId: z.string().min(1).max(60),
  variantId: z.string(),
  campaign: z.looseObject({
    placements: z.array(z.string()),
    variants: z.array(z.looseObject({ variant_id: z.string() })),
  }),
});

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    // Not JSON: the endpoint's own schema refuses `undefined`.
    return undefined;
  }
};

const send = (response: ServerResponse, status: number, body?: unknown) => {
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    'cache-control': 'no-store',
    ...(body !== undefined && { 'content-type': 'application/json; charset=utf-8' }),
  });
  response.end(body === undefined ? undefined : JSON.stringify(body));
};

/** Another site's page must not act here: browsers say where a request comes from, and JSON needs their permission. */
const isOwnPage = (request: IncomingMessage): boolean => {
  const site = request.headers['sec-fetch-site'];
  const json = request.headers['content-type']?.split(';')[0]?.trim() === 'application/json';
  return (site === undefined || site === 'same-origin') && (request.method === 'GET' || json);
};

/** What the demo's pages ask of their own server. Answers false for every other path. */
export const createDemoEndpoints = ({ shop, studio }: Endpoints) => {
  const preview = async (response: ServerResponse, body: unknown) => {
    const parsed = previewBody.safeParse(body);
    const tell = (status: number, problems: DraftProblem[]) => send(response, status, { problems });
    if (!parsed.success) return tell(400, [{ property: null, words: z.prettifyError(parsed.error) }]);
    const { userId, variantId, campaign } = parsed.data;
    try {
      send(response, 200, await studio.preview(userId, campaign as unknown as CampaignText, variantId));
    } catch (error) {
      const problems = studio.draftProblems(error);
      if (problems !== null) return tell(422, problems);
      tell(502, [{ property: null, words: error instanceof Error ? error.message : String(error) }]);
    }
  };

  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (!pathname.startsWith('/demo/')) return false;
    const asked = `${request.method} ${pathname}`;
    if (!isOwnPage(request)) send(response, 403);
    else if (asked === 'GET /demo/studio') send(response, 200, await studio.overview());
    else if (asked === 'POST /demo/act') send(response, await shop.act(await readBody(request)));
    else if (asked === 'POST /demo/preview') await preview(response, await readBody(request));
    else send(response, 404);
    return true;
  };
};
