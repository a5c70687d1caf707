import type { Notice, PageLifecycle, Placard } from '../client/index.ts';
import { findHostChannel } from './host-channel.ts';
import { createHostLifecycle } from './host-lifecycle.ts';
import { type HostMessage, plainNotice, readHostMessage } from './host-message.ts';

/** Name of the native object and, with `Bridge` behind it, of the function the host calls. */
const DEFAULT_NAME = 'Placard';

/** What the native side is called, and which notices it wants. */
export interface WebviewHostOptions {
  /** Name of the native object. The page's side is `window[name + 'Bridge']`. Default `Placard`. */
  name?: string | undefined;
  /** Notices the host wants. Default: all of them. */
  notices?: readonly Notice['type'][] | undefined;
}

/** The bridge between the client and the native host. */
export interface WebviewHost {
  /** False in an ordinary browser. */
  isThere(): boolean;
  /** For `createPlacard({ platform: { lifecycle } })`: pauses of the host count as hidden. */
  lifecycle: PageLifecycle;
  /** For `createTemplates({ navigate })`: the host opens links; without a host the browser does. */
  navigate(url: string): void;
  /** Lets host and client talk until the returned function is called. */
  connect(placard: Placard): () => void;
}

/** What went wrong, as text. */
const reasonOf = (problem: unknown): string => {
  try {
    return String(problem instanceof Error ? problem.message : problem);
  } catch {
    // The thrown value has no text.
    return 'reading it threw';
  }
};

/**
 * The bridge between the page and the app around it. The host gets messages with a `type`: `ready`, `open-link` with
 * an absolute `url`, `notice`, and `error` where its message cannot be understood. It sends `identify`, `paused`,
 * `resumed`, `refresh`, `flush` and `preview` through `window.PlacardBridge.receive(message)`, as text or as an object.
 */
export const createWebviewHost = ({ name = DEFAULT_NAME, notices }: WebviewHostOptions = {}): WebviewHost => {
  const channel = findHostChannel(name);
  const { lifecycle, setPaused } = createHostLifecycle();
  const bridgeName = `${name}Bridge`;

  /** Whose bridge the host talks to. */
  let latest: object | undefined;

  /** False where no host took the message. */
  const post = (message: Record<string, unknown>): boolean => {
    try {
      return channel.post(message);
    } catch {
      // A native side that throws is going away or broken, and the page is not at fault.
      return false;
    }
  };

  const obey = (placard: Placard, message: HostMessage) => {
    if (message.type === 'identify') return placard.identify(message.userId);
    if (message.type === 'preview') {
      return placard.inspect().then((inspector) => inspector?.preview(message.token));
    }
    if (message.type === 'refresh') return placard.refresh();
    if (message.type === 'flush') return placard.flush();
    setPaused(message.type === 'paused');
  };

  return {
    isThere: () => channel.isThere,
    lifecycle,
    navigate(url) {
      const { href } = new URL(url, document.baseURI);
      if (!post({ type: 'open-link', url: href })) location.assign(href);
    },
    connect(placard) {
      const stop = placard.subscribe((notice) => {
        if (!notices || notices.includes(notice.type)) {
          post({ type: 'notice', notice: plainNotice(notice) });
        }
      });
      const receive = (input: unknown): void => {
        try {
          void obey(placard, readHostMessage(input));
        } catch (problem) {
          post({ type: 'error', message: `The message was not understood: ${reasonOf(problem)}` });
        }
      };
      const bridge = Object.freeze({ receive });
      Object.defineProperty(globalThis, bridgeName, { value: bridge, configurable: true });
      latest = bridge;
      post({ type: 'ready' });
      return () => {
        stop();
        // A later connection may be paused.
        if (latest === bridge) setPaused(false);
        // A later connection may have taken the name over.
        if (Reflect.get(globalThis, bridgeName) === bridge) Reflect.deleteProperty(globalThis, bridgeName);
      };
    },
  };
};
