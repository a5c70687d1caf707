import { patience } from './patience.ts';

/** Returns an expression that runs `body` as an async function. */
export const asFunction = (body: string) => `(async () => { ${body} })()`;

/** A tab of any engine, with the methods that all three drivers support. */
export interface EnginePage {
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  /** Runs the body of an async function in the page; resolves with its result, passed as JSON. */
  run<T>(body: string): Promise<T>;
  /** Clicks the center of the first matching element with a trusted event. */
  click(selector: string): Promise<void>;
  /** Switches the page offline or online. */
  setOffline(isOffline: boolean): Promise<void>;
  /** Kills the page's process. The page object is unusable then. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

export interface Engine {
  /** `Chromium 156.0`, for instance. */
  version: string;
  /** Opens a page in its own window, so that no page hides another. */
  newPage(): Promise<EnginePage>;
  close(): Promise<void>;
}

/** Page states that not every driver can enter. */
export type State = 'offline' | 'killed';

export interface EngineKind {
  name: 'Chromium' | 'Firefox' | 'WebKitGTK';
  /** Install command if the engine is missing on this machine. */
  missing?: string;
  /** Why the driver cannot enter a state. */
  cannot: Partial<Record<State, string>>;
  launch(): Promise<Engine>;
}

const POLL_MS = 50;

/** Polls the page until the body returns a truthy value; rejects after `timeoutMs`. */
export const until = async <T>(page: EnginePage, body: string, timeoutMs = patience(30_000)): Promise<T> => {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const value = await page.run<T>(body);
    if (value) return value;
    if (performance.now() > end) {
      throw new Error(
        `Not within ${timeoutMs} ms: ${body}\n${await page.run<string>('return globalThis.story?.() ?? ""')}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};
