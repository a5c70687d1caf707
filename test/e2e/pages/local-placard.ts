import { type BannerBootstrap, createPlacard, type Notice, type Placard } from '../../../src/client/index.ts';

/** Data that the page exposes to its test. */
export interface Told {
  notices: Notice[];
  syncs: number;
}

const headline = (value: string) => ({ headline: { type: 'string', value } });

/** The real client with a simulated network: each placement has one banner, and every event is accepted. */
export const createLocalPlacard = (
  appId: string,
  bootstrap: BannerBootstrap | null = null,
): { placard: Placard; told: Told } => {
  const told: Told = { notices: [], syncs: 0 };
  const answer: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const body = await request.json();
    if (request.url.endsWith('/track')) {
      return Response.json({ events_processed: body.events.length, message: 'success' }, { status: 202 });
    }
    told.syncs += 1;
    const banners = body.placements.map((placementId: string) => [
      placementId,
      {
        id: `bnr_${placementId}`,
        placement_id: placementId,
        expires_at: -1,
        properties: headline(`For ${placementId}`),
      },
    ]);
    return Response.json({ banners: Object.fromEntries(banners) });
  };
  const placard = createPlacard({
    endpoint: location.origin,
    apiKey: 'key',
    appId,
    appVersion: '1.0.0',
    userId: 'u-1',
    bootstrap,
    platform: { fetch: answer },
  });
  placard.subscribe((notice) => told.notices.push(notice));
  return { placard, told };
};
