/**
 * The tag of the background sync, and the messages between a page and the service worker that sends for it. All name the
 * log: the page's worker may be another app's, which would send nothing of this one. A worker without user tokens does not
 * answer a page with them: the service would refuse what it sends.
 */
export const handOffMessages = (log: string, hasTokens: boolean) => ({
  syncTag: log,
  areYouThere: `${log}: are you there${hasTokens ? ' with tokens' : ''}?`,
  here: `${log}: here`,
  send: `${log}: send`,
});

interface Registration {
  scope: string;
  sync?: { register(tag: string): Promise<void> };
}

/** What of `navigator.serviceWorker` is used. */
export interface WorkerContainer {
  controller: { postMessage(message: unknown): void } | null;
  ready: Promise<Registration>;
  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void;
  removeEventListener(type: string, listener: (event: { data?: unknown }) => void): void;
}

/**
 * Lets the service worker send when the page goes: it outlives the page and reads the answers, so nothing is left in
 * doubt. A worker counts only after it said that it holds the sender of this log; the host registers it, or not.
 */
export const createHandOff = (log: string, hasTokens: boolean, container: WorkerContainer) => {
  const { syncTag, areYouThere, here, send } = handOffMessages(log, hasTokens);
  let isThere = false;
  const ask = () => {
    isThere = false;
    container.controller?.postMessage(areYouThere);
  };
  const listen = ({ data }: { data?: unknown }) => {
    if (data === here) isThere = true;
  };
  container.addEventListener('message', listen);
  container.addEventListener('controllerchange', ask);
  ask();

  return {
    /** Has the worker send what is stored; false where there is none. */
    handOff(): boolean {
      if (!isThere || !container.controller) return false;
      container.controller.postMessage(send);
      // Should the worker not get through now, the browser wakes it when the network is back.
      void container.ready
        .then((registration) => registration.sync?.register(syncTag))
        .catch(() => {
          // Background sync may be denied; the events then leave with the next page.
        });
      return true;
    },
    stop() {
      container.removeEventListener('message', listen);
      container.removeEventListener('controllerchange', ask);
    },
  };
};

export type HandOff = ReturnType<typeof createHandOff>;
