import type { DataEvent, FindWorkspace, Store } from '../../../src/service/index.ts';
import { FEED_START, readEvents } from '../../../src/service/index.ts';

interface StreamOptions {
  workspaceId: string;
  findWorkspace?: FindWorkspace;
  limit?: number;
}

/** Every event of a workspace, read page by page. */
export const streamAll = async (
  store: Pick<Store, 'readFeed' | 'readConversions' | 'feedEnd'>,
  { workspaceId, findWorkspace = () => undefined, limit = 3 }: StreamOptions,
): Promise<DataEvent[]> => {
  const all: DataEvent[] = [];
  for (let after = FEED_START; ; ) {
    const { events, rows, next } = await readEvents({
      feed: store,
      findWorkspace,
      after,
      limit,
      workspaceId,
    });
    if (rows === 0) return all;
    all.push(...events);
    after = next;
  }
};
