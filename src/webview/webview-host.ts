import type { Notice, PageLifecycle, Placard } from '../client/index.ts';
import { findHostChannel } from './host-channel.ts';
import { createHostLifecycle } from './host-lifecycle.ts';
import { type HostMessage, plainNotice, readHostMessage } from './host-message.ts';

/** Name of the native object. The page's global for the host has the same name with the suffix `Bridge`. */
const DEFAULT_NAME = 'Placard';

/** Options of `createWebviewHost`. */
export interface WebviewHostOptions {
  /** Name of the native object. The page's side is `window[name + 'Bridge']`. Default `Placard`. */
  name?: string | undefined;
  /** Notice types to forward to the host. Default: all. */
  notices?: readonly Notice['type'][] | undefined;
}

/** Bridge between client and native host. */
export interface WebviewHost {
  /** Returns whether there is a native host; `false` in an ordinary browser. */
  isAvailable(): boolean;
  /** Lifecycle for `createPlacard({ platform: { lifecycle } })`. The page counts as hidden while the host is paused. */
  lifecycle: PageLifecycle;
  /** Opens a link in the host; without a host, in the browser. For `createTemplates({ navigate })`. */
  navigate(url: string): void;
  /** Connects host and client. Returns a function that disconnects them. */
  connect(placard: Placard): () => void;
}

const getReason = (problem: unknown): string => {
  try {
    return String(problem instanceof Error ? problem.message : problem);
  } catch {
    // The thrown value cannot be converted to text.
    return 'reading it threw';
  }
};

/**
 * Creates the bridge between the page and its native app. The host receives messages with a `type`: `ready`, `open-link` with an
 * absolute `url`, `notice`, and `error` if its message is invalid. It sends `identify`, `paused`, `resumed`, `refresh`, `flush`
 * and `preview` with `window.PlacardBridge.receive(message)`, as text or object.
 */
export const createWebviewHost = ({ name = DEFAULT_NAME, notices }: WebviewHostOptions = {}): WebviewHost => {
  const channel = findHostChannel(name);
  const { lifecycle, setPaused } = createHostLifecycle();
  const bridgeName = `${name}Bridge`;

  /** Bridge of the latest connection. */
  let latest: object | undefined;

  /** Returns `false` if no host accepted the message. */
  const post = (message: Record<string, unknown>): boolean => {
    try {
      return channel.post(message);
    } catch {
      // A native host that throws is closing or broken; the page continues.
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
    isAvailable: () => channel.isAvailable,
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
          post({ type: 'error', message: `The message was not understood: ${getReason(problem)}` });
        }
      };
      const bridge = Object.freeze({ receive });
      Object.defineProperty(globalThis, bridgeName, { value: bridge, configurable: true });
      latest = bridge;
      post({ type: 'ready' });
      return () => {
        stop();
        // Not if a later connection exists, because it may be paused.
        if (latest === bridge) setPaused(false);
        // A later connection may have replaced the global.
        if (Reflect.get(globalThis, bridgeName) === bridge) Reflect.deleteProperty(globalThis, bridgeName);
      };
    },
  };
};
