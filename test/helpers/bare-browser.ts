import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { BROWSER_ARGUMENTS, findBrowser } from './browser.ts';
import { patience } from './patience.ts';

/** A page that was replaced never responds. */
const ANSWER_MS = patience(30_000);
/** Timeout for asking one of several pages whether it is the visible one. */
const PROBE_MS = patience(3_000);

/** A tab without emulation. */
export interface BareTab {
  goto(url: string): Promise<void>;
  /** Evaluates an expression in the page's main frame. */
  evaluate<T>(expression: string): Promise<T>;
}

export interface BareBrowser {
  newTab(url: string): Promise<BareTab>;
  close(): Promise<void>;
}

interface Reply {
  id?: number;
  sessionId?: string;
  method?: string;
  params?: { sessionId: string };
  result?: Record<string, unknown>;
  error?: { message: string };
}

const start = async (profile: string): Promise<{ child: ChildProcess; endpoint: string }> => {
  const { path, env } = await findBrowser();
  const child = spawn(
    path,
    [
      '--headless',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      ...BROWSER_ARGUMENTS,
      'about:blank',
    ],
    { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  for await (const line of createInterface({ input: child.stderr! })) {
    const endpoint = /DevTools listening on (ws:\S+)/.exec(line)?.[1];
    if (!endpoint) continue;
    child.stderr!.resume();
    return { child, endpoint };
  }
  throw new Error(`${path} ended before it could be reached`);
};

/**
 * Chromium over the bare DevTools protocol, because automation libraries disable prerendering when they attach.
 */
export const launchBareBrowser = async (): Promise<BareBrowser> => {
  const profile = await mkdtemp(join(tmpdir(), 'placard-bare-'));
  const { child, endpoint } = await start(profile);
  const socket = new WebSocket(endpoint);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const waiting = new Map<number, (reply: Reply) => void>();
  /** The pages of each tab: the visible one and a prerendered one. */
  const getPages = new Map<string, Set<string>>();
  socket.onmessage = ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
    const pages = getPages.get(reply.sessionId ?? '');
    if (reply.method === 'Target.attachedToTarget') pages?.add(reply.params!.sessionId);
    if (reply.method === 'Target.detachedFromTarget') pages?.delete(reply.params!.sessionId);
  };
  let ids = 0;
  const send = async (method: string, params = {}, sessionId?: string, answerMs = ANSWER_MS) => {
    ids += 1;
    const id = ids;
    socket.send(JSON.stringify({ id, method, params, sessionId }));
    const { result, error } = await new Promise<Reply>((resolve) => {
      waiting.set(id, resolve);
      setTimeout(() => resolve({ error: { message: 'no answer' } }), answerMs);
    });
    waiting.delete(id);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result!;
  };
  const evaluateIn = async (session: string, expression: string, answerMs?: number): Promise<unknown> => {
    const { result, exceptionDetails } = (await send(
      'Runtime.evaluate',
      { expression, awaitPromise: true, returnByValue: true },
      session,
      answerMs,
    )) as { result: { value: unknown }; exceptionDetails?: { text: string } };
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.text}`);
    return result.value;
  };

  return {
    async newTab(url) {
      // Attaching to a page disables prerendering; attaching to its tab does not.
      const { targetId } = await send('Target.createTarget', { url, forTab: true });
      const { sessionId } = (await send('Target.attachToTarget', { targetId, flatten: true })) as {
        sessionId: string;
      };
      const pages = new Set<string>();
      getPages.set(sessionId, pages);
      await send(
        'Target.setAutoAttach',
        { autoAttach: true, waitForDebuggerOnStart: false, flatten: true },
        sessionId,
      );
      const shown = async (): Promise<string> => {
        // During a navigation there may be no page.
        for (const until = Date.now() + ANSWER_MS; Date.now() < until; await pause(20)) {
          for (const session of pages) {
            // The page was replaced.
            const state = await evaluateIn(session, 'String(document.prerendering)', PROBE_MS).catch(
              () => 'gone',
            );
            if (state === 'false') return session;
          }
        }
        throw new Error('the tab shows no page');
      };
      return {
        async goto(target) {
          await send('Page.navigate', { url: target }, await shown());
        },
        async evaluate<T>(expression: string) {
          return (await evaluateIn(await shown(), expression)) as T;
        },
      };
    },
    async close() {
      const gone = once(child, 'exit');
      // The response may be lost when the browser exits.
      void send('Browser.close').catch(() => undefined);
      await gone;
      socket.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 20 });
    },
  };
};
