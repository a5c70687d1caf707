import { SYNC_PATH } from '../../src/protocol/index.ts';
import type { SyncResponse } from '../../src/protocol/schemas/index.ts';
import type { ReleaseSource, Service, Webhook, Workspace } from '../../src/service/index.ts';
import { HOOK_PATH } from './shop-endpoints.ts';

/** Returns the response with absolute URLs of the demo's own images. */
const withOrigin = (text: string, origin: string): string => {
  const answer = JSON.parse(text) as SyncResponse;
  for (const banner of Object.values(answer.banners)) {
    for (const property of Object.values(banner?.properties ?? {})) {
      if (property.type === 'image' && /^\/(?!\/)/.test(String(property.value))) {
        property.value = origin + property.value;
      }
    }
  }
  return JSON.stringify(answer);
};

/**
 * Wraps the service so that image URLs are absolute and load in an app of any origin. The workspace file has only paths, because
 * the demo's port can change.
 */
export const withAbsoluteImages = (service: Service): Service => ({
  ...service,
  async handle(exchange) {
    const reply = await service.handle(exchange);
    const host = exchange.header('host');
    if (exchange.path !== SYNC_PATH || reply.status !== 200 || host === undefined) return reply;
    if (typeof reply.body !== 'string') return reply;
    return { ...reply, body: withOrigin(reply.body, `http://${host}`) };
  },
});

const shopWebhook = (site: string): Webhook => ({
  webhookId: 'shop',
  name: 'Demo shop',
  url: `${site}${HOOK_PATH}`,
  eventTypes: null,
  format: 'currents',
  secretVariables: [],
  tokenVariable: null,
  from: 'now',
  isPaused: false,
});

/**
 * Wraps the workspaces. Sets the demo's shop as their site and adds its webhook, because the demo's port can change. Marks sample
 * data in the name of the workspace, which the Studio shows on every page.
 */
export const atSite = (source: ReleaseSource, site: () => string, isMadeUp: boolean): ReleaseSource => {
  const copies = new WeakMap<Workspace, Workspace>();
  const moved = (workspace: Workspace): Workspace => {
    const made = copies.get(workspace) ?? {
      ...workspace,
      name: isMadeUp ? `${workspace.name}, with synthetic users` : workspace.name,
      studio: { ...workspace.studio, sites: [site()] },
      webhooks: [...workspace.webhooks, shopWebhook(site())],
    };
    copies.set(workspace, made);
    return made;
  };
  return {
    ...source,
    registry() {
      const { workspaces, findApiKey } = source.registry();
      return { workspaces: workspaces.map(moved), findApiKey };
    },
  };
};
