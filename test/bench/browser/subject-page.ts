import type { Page } from 'playwright-core';
import { type PageServer, startPageServer } from '../../helpers/page-server.ts';
import type { Subject } from './subjects.ts';

/** Cross-origin isolation: its clock has a resolution of 5 µs instead of 100 µs. */
const ISOLATED = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

/** Serves a minified page for each subject at `/<name>`; nothing starts by itself. */
export const startSubjectPages = (subjects: Subject[], origins: number): Promise<PageServer> =>
  startPageServer({
    entries: [],
    modules: Object.fromEntries(subjects.map((subject) => [getModule(subject), subject.page])),
    pages: Object.fromEntries(subjects.map((subject) => [`/${getModule(subject)}`, { headers: ISOLATED }])),
    origins,
    minify: true,
  });

export const getModule = ({ name }: Subject): string => name.toLowerCase().replaceAll(' ', '-');

/** Opens the subject's page and starts it; the page has a global `subject` then. */
export const openSubject = async (
  page: Page,
  origin: string,
  subject: Subject,
  collector: string,
): Promise<void> => {
  await page.goto(`${origin}/${getModule(subject)}`);
  await startSubject(page, subject, collector);
};

export const startSubject = async (page: Page, subject: Subject, collector: string): Promise<void> => {
  await page.evaluate(
    async ([module, url]) => {
      const { start } = await import(`/placard/${module}.js`);
      const subject = await start({ origin: location.origin, collector: url });
      Object.assign(globalThis, { subject });
    },
    [getModule(subject), collector] as const,
  );
};
