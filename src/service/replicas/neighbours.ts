import { hostname } from 'node:os';
import type { Replica } from '../store/store.ts';
import { createHandOver, type HandOver } from './hand-over.ts';
import { createChooser } from './owner.ts';
import { createPost } from './post.ts';
import { TRACK_FORMAT } from './track-text.ts';

/** One that could not take what it was given, or did not answer, is left alone so long. */
const AVOID_MS = 10_000;

/** Who a user may belong to. */
export interface Owner {
  id: string;
  /** `null` is this replica. */
  handOver: HandOver | null;
  avoidedUntil: number;
}

const LOOPBACK = /^http:\/\/(127\.|localhost(:|$)|\[::1\])/;

/** Of replicas that were announced, those that this one can hand over to. */
const isWithinReach = ({ format, url, machine }: Replica): boolean =>
  format === TRACK_FORMAT && (!LOOPBACK.test(url) || machine === hostname());

/** The replicas there are at this moment, and which of them a user belongs to. */
export const createNeighbours = (myId: string) => {
  const me: Owner = { id: myId, handOver: null, avoidedUntil: 0 };
  let others = new Map<string, Owner>();
  let ownerOf = createChooser<Owner>([me]);

  const choose = () => {
    const now = performance.now();
    ownerOf = createChooser([me, ...[...others.values()].filter(({ avoidedUntil }) => avoidedUntil <= now)]);
  };

  return {
    count: () => others.size,
    ownerOf: (workspaceId: string, externalId: string): Owner => ownerOf(workspaceId, externalId),

    /** Takes note of who is there, this one among them. */
    meet(present: readonly Replica[]) {
      const before = others;
      others = new Map();
      for (const replica of present) {
        const { id } = replica;
        if (id === myId || !isWithinReach(replica)) continue;
        const handOver = () => createHandOver(createPost(replica));
        others.set(id, before.get(id) ?? { id, handOver: handOver(), avoidedUntil: 0 });
        before.delete(id);
      }
      for (const { handOver } of before.values()) handOver?.close();
      choose();
    },

    /** Leaves one alone for a while. False where that is so already. */
    avoid(owner: Owner): boolean {
      const now = performance.now();
      const isNew = owner.avoidedUntil <= now;
      owner.avoidedUntil = now + AVOID_MS;
      if (isNew) choose();
      return isNew;
    },
  };
};
