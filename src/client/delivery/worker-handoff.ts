/**
 * Creates the background sync tag and the messages between a page and the service worker that sends for it. The tag and all
 * messages contain the log name, because the worker may belong to another app. A worker without user tokens ignores a page that
 * uses them, because the service would reject its requests.
 */
export const workerMessages = (log: string, hasTokens: boolean) => ({
  syncTag: log,
  ping: `${log}: are you there${hasTokens ? ' with tokens' : ''}?`,
  pong: `${log}: here`,
  send: `${log}: send`,
});

interface Registration {
  scope: string;
  sync?: { register(tag: string): Promise<void> };
}

/** Subset of `navigator.serviceWorker`. */
export interface WorkerContainer {
  controller: { postMessage(message: unknown): void } | null;
  ready: Promise<Registration>;
  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void;
  removeEventListener(type: string, listener: (event: { data?: unknown }) => void): void;
}

/**
 * Lets the service worker send on page exit. The worker outlives the page and reads the responses, so no event is left in doubt.
 * A worker is used only after it confirmed that it runs the sender of this log. The host registers the worker.
 */
export const createWorkerHandoff = (log: string, hasTokens: boolean, container: WorkerContainer) => {
  const { syncTag, ping, pong, send } = workerMessages(log, hasTokens);
  let isReady = false;
  const sendPing = () => {
    isReady = false;
    container.controller?.postMessage(ping);
  };
  const listen = ({ data }: { data?: unknown }) => {
    if (data === pong) isReady = true;
  };
  container.addEventListener('message', listen);
  container.addEventListener('controllerchange', sendPing);
  sendPing();

  return {
    /** Tells the worker to send stored events. Returns `false` if there is no worker. */
    handOff(): boolean {
      if (!isReady || !container.controller) return false;
      container.controller.postMessage(send);
      // If the worker cannot send now, the browser wakes it when the network is back.
      void container.ready
        .then((registration) => registration.sync?.register(syncTag))
        .catch(() => {
          // Background sync may be denied. The next page then sends the events.
        });
      return true;
    },
    stop() {
      container.removeEventListener('message', listen);
      container.removeEventListener('controllerchange', sendPing);
    },
  };
};

export type WorkerHandoff = ReturnType<typeof createWorkerHandoff>;
