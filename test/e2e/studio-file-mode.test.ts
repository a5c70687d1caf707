// A workspace whose source of truth is the file, with hostile texts in it: the Studio reads, keeps drafts and copies.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import content from '../../demo/workspace.json' with { type: 'json' };
import { axeProblems } from '../helpers/axe-problems.ts';
import { launchShell } from '../helpers/browser.ts';
import { type RunningDemo, runDemo } from '../helpers/running-demo.ts';

const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=1</script>';

let folder: string;
let file: string;
let demo: RunningDemo;
let browser: Browser;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'placard-file-mode-'));
  file = join(folder, 'workspace.json');
  const { $schema: _, ...workspace } = content;
  const [first, ...campaigns] = workspace.campaigns;
  const [variant] = first!.variants;
  const text = { type: 'string', value: HOSTILE };
  const hostile = {
    ...first,
    campaign_id: HOSTILE,
    name: HOSTILE,
    audience: { [HOSTILE]: HOSTILE },
    test_users: [HOSTILE],
    variants: [{ ...variant, name: HOSTILE, properties: { headline: text, body: text, [HOSTILE]: text } }],
  };
  await writeFile(
    file,
    JSON.stringify({
      ...workspace,
      name: HOSTILE,
      campaigns_from: 'file',
      campaigns: [hostile, ...campaigns],
    }),
  );
  demo = await runDemo({ workspaceFile: file });
  browser = await launchShell();
});
afterAll(async () => {
  await browser?.close();
  await demo?.stop();
  await rm(folder, { recursive: true });
});

const open = async (options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> => {
  const context = await browser.newContext({
    locale: 'en-GB',
    viewport: { width: 1280, height: 800 },
    ...options,
  });
  const page = await context.newPage();
  await page.goto(demo.studioUrl);
  return page;
};
const signIn = async (page: Page) => {
  await page.getByLabel('Operator key').fill('demo-operator-key');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Campaigns' }).waitFor();
};

describe('the login', () => {
  test('has no axe violations, even with an error, and reports missing fields', async () => {
    const page = await open({ bypassCSP: true });
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Enter your operator key.').waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await page.getByLabel('Operator key').fill('guess');
    await page.keyboard.press('Enter');
    await page.getByText('Unknown operator key').waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('key');
    await page.context().close();
  });
});

describe('a workspace whose campaigns are in its file', () => {
  test('edits campaigns as drafts and copies them for the file, which does not change', async () => {
    const before = await readFile(file, 'utf8');
    const page = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await signIn(page);
    expect(await page.getByRole('button', { name: /^Stop/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'Free delivery' }).click();
    await page.getByLabel('Headline', { exact: true }).fill('Delivered free this week');
    await page.getByText('Draft saved').waitFor();
    await page.getByRole('button', { name: 'Copy…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Copy for the workspace file' });
    await dialog.getByText('Headline').first().waitFor();
    await dialog.getByRole('button', { name: 'Copy JSON' }).click();
    await page.getByText('Copied. Replace the campaign with this ID in the workspace file.').waitFor();
    const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
    expect(copied.campaign_id).toBe('free-delivery');
    expect(copied.variants[0].properties.headline.value).toBe('Delivered free this week');
    expect(await readFile(file, 'utf8')).toBe(before);
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByText('See its history there.').waitFor();
    await page.context().close();
  });

  test('shows hostile texts literally on every screen', async () => {
    const page = await open();
    await signIn(page);
    await page.getByRole('link', { name: HOSTILE, exact: true }).click();
    await page.getByRole('heading', { name: HOSTILE }).waitFor();
    await page.frameLocator('iframe').getByText(HOSTILE).first().waitFor();
    for (const tab of [/Audience/, /Schedule/, /Goal/]) await page.getByRole('tab', { name: tab }).click();
    for (const link of ['Results', 'History', 'Why', 'Access']) {
      await page.getByRole('link', { name: link, exact: true }).click();
      await page.locator('main').getByRole('heading').first().waitFor();
    }
    expect(await page.title()).not.toBe('1');
    expect(await page.locator('img[src="x"], main script').count()).toBe(0);
    await page.context().close();
  });
});
