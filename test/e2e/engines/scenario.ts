import type { ExpectStatic } from 'vitest';
import type { Notice } from '../../../src/client/index.ts';
import type { FakeService } from '../../../src/testing/index.ts';
import { type EnginePage, type State, until } from '../../helpers/engines.ts';
import type { HttpServer } from '../../helpers/http-server.ts';
import type { PageServer } from '../../helpers/page-server.ts';
import { patience } from '../../helpers/patience.ts';

/** Context of a scenario: a service, and pages on their own origin, and so with their own storage. */
export interface World {
  fake: FakeService;
  api: HttpServer;
  pages: Pick<PageServer, 'set' | 'requests' | 'refuse'>;
  origin: string;
  open(path?: string): Promise<EnginePage>;
  /** Maximum number of concurrent `track` requests. */
  mostAtOnce(): number;
  /** For `expect.poll`, which needs the test of concurrent scenarios. */
  expect: ExpectStatic;
}

/** One behavior, tested in every engine. */
export interface Scenario {
  name: string;
  /** A state that a driver may be unable to enter; the test is then skipped with the reason. */
  needs?: State;
  run(world: World): Promise<void>;
}

/** Function bodies for `run` and `until`. */
export const heard = (type: Notice['type']) =>
  `return globalThis.notices?.some((notice) => notice.type === '${type}')`;
export const tracked = (type: string) =>
  `return globalThis.notices?.filter((notice) => notice.type === 'tracked' && notice.event.type === '${type}').length`;
export const TITLE = `return document.querySelector('#slot p')?.textContent === 'Sale'`;
export const NO_TITLE = `return !document.querySelector('#slot p')`;
const SETTLED = `await placard.flush();
  const { pending, inDoubt } = await placard.diagnostics();
  return pending + inDoubt === 0`;

/** Sends until the queue is empty; a batch of a closed page is taken over some seconds after its request timeout. */
export const settle = (page: EnginePage, before = ''): Promise<boolean> =>
  until(page, before + SETTLED, patience(60_000));

/**
 * Resolves when a banner in full view has been seen for one second, as could any other. Each call needs a unique
 * name.
 */
export const oneSecondSeen = async (page: EnginePage, name: string): Promise<void> => {
  await page.run(`mountWitness('${name}')`);
  await until(
    page,
    `return notices.some(({ type, event }) => type === 'tracked' && event.placementId === '${name}')`,
  );
};
