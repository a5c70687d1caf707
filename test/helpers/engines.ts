import { patience } from './patience.ts';

/** Source that answers what the body of an async function returns. */
export const asFunction = (body: string) => `(async () => { ${body} })()`;

/** A tab of any engine, with the few verbs that all three drivers have. */
export interface EnginePage {
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  /** Runs the body of an async function in the page and answers what it returns, as JSON. */
  run<T>(body: string): Promise<T>;
  /** A real click, as a person's, at the middle of the first element that matches. */
  click(selector: string): Promise<void>;
  /** Takes the network away from the page, or gives it back. */
  setOffline(isOffline: boolean): Promise<void>;
  /** Ends the process that runs the page, without a word to the page. Nothing else can be asked of it. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

export interface Engine {
  /** `Chromium 156.0`, for instance. */
  version: string;
  /** A page of its own window where the engine has windows, so that no page hides another. */
  newPage(): Promise<EnginePage>;
  close(): Promise<void>;
}

/** States that not every driver can bring a page into. */
export type State = 'offline' | 'killed';

export interface EngineKind {
  name: 'Chromium' | 'Firefox' | 'WebKitGTK';
  /** The command that brings it, where this machine does not have it. */
  missing?: string;
  /** Why its driver cannot enter a state. */
  cannot: Partial<Record<State, string>>;
  launch(): Promise<Engine>;
}

const POLL_MS = 50;

/** Asks the page again and again until the body answers something true; rejects after `timeoutMs`. */
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
