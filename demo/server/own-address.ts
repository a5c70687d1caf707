import { SYNC_PATH, type SyncAnswer } from '../../src/protocol/index.ts';
import type { ReleaseSource, Service, Workspace } from '../../src/service/index.ts';

/** The answer's text with every image of the demo's own pages as a whole address. */
const withOrigin = (text: string, origin: string): string => {
  const answer = JSON.parse(text) as SyncAnswer;
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
 * The same service, whose banners show their images in an app of any origin: the demo's workspace names them by their
 * path, because its file does not know where the demo runs.
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

/**
 * The same workspaces with the demo's shop as their site: on which port it runs, its file does not know. Nor does it know whether
 * there is a made-up month, which the name of the workspace says on every page of the Studio.
 */
export const atSite = (source: ReleaseSource, site: () => string, isMadeUp: boolean): ReleaseSource => {
  const known = new WeakMap<Workspace, Workspace>();
  const moved = (workspace: Workspace): Workspace => {
    const made = known.get(workspace) ?? {
      ...workspace,
      name: isMadeUp ? `${workspace.name}, with made-up people` : workspace.name,
      studio: { ...workspace.studio, sites: [site()] },
    };
    known.set(workspace, made);
    return made;
  };
  return {
    ...source,
    registry() {
      const { workspaces, holderOf } = source.registry();
      return { workspaces: workspaces.map(moved), holderOf };
    },
  };
};
