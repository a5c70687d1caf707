// A team in which no operator publishes their own draft, with another environment.
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import content from '../../demo/workspace.json' with { type: 'json' };
import { listenStudio } from '../../src/studio/index.ts';
import { axeProblems } from '../helpers/axe-problems.ts';
import { launchShell } from '../helpers/browser.ts';
import { type RunningDemo, runDemo } from '../helpers/running-demo.ts';
import { type RunningStudio, runStudio } from '../helpers/running-studio.ts';

const operator = (name: string, role = 'publish') => ({
  name,
  role,
  key_sha256: createHash('sha256').update(`${name}-key`).digest('hex'),
});

let folder: string;
let demo: RunningDemo;
let production: RunningStudio;
let productionPort: Awaited<ReturnType<typeof listenStudio>>;
let browser: Browser;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'placard-team-'));
  const workspaceFile = join(folder, 'workspace.json');
  production = await runStudio();
  productionPort = await listenStudio(production.studio, { port: 0 });
  const { $schema: _, ...workspace } = content;
  const team = {
    ...workspace,
    operators: [operator('Writer'), operator('Approver'), operator('Admin', 'admin')],
    studio: {
      ...workspace.studio,
      require_approval: true,
      environments: [{ name: 'Production', studio_url: productionPort.url }],
    },
  };
  await writeFile(workspaceFile, JSON.stringify(team));
  demo = await runDemo({ workspaceFile });
  browser = await launchShell();
});
afterAll(async () => {
  await browser?.close();
  await demo?.stop();
  await productionPort?.stop();
  await production?.stop();
  await rm(folder, { recursive: true });
});

const signIn = async (name: string): Promise<Page> => {
  const page = await browser.newPage({ locale: 'en-GB', viewport: { width: 1280, height: 800 } });
  await page.goto(`${demo.studioUrl}/campaigns/gift-wrap`);
  await page.getByLabel('Operator key').fill(`${name}-key`);
  await page.keyboard.press('Enter');
  await page.getByLabel('Headline', { exact: true }).waitFor();
  return page;
};
const headline = (page: Page) => page.getByLabel('Headline', { exact: true });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const reason = (page: Page) => page.getByText('Another operator must publish your changes.');
const write = async (page: Page, words: string) => {
  const stored = page.waitForResponse(
    (answer) => answer.request().method() === 'PUT' && answer.url().includes('/api/drafts/') && answer.ok(),
  );
  await headline(page).fill(words);
  await stored;
  await page.getByText('Draft saved').waitFor();
};

test('an approver publishes while a colleague continues to edit and sees why they cannot publish', async () => {
  const writer = await signIn('Writer');
  await write(writer, 'First words');
  await reason(writer).waitFor();
  expect(await button(writer, 'Publish…').count()).toBe(0);

  const approver = await signIn('Approver');
  expect(await headline(approver).inputValue()).toBe('First words');
  expect(await reason(approver).count()).toBe(0);
  await button(approver, 'Publish…').click();
  await button(approver, 'Publish now').waitFor();
  await write(writer, 'Second words');
  await approver.evaluate(() => dispatchEvent(new Event('online')));
  await approver.getByText('Writer changed this draft. The differences include the change.').waitFor();
  await button(approver, 'Publish now').click();
  await approver.getByText(/^Release \d+ is live/).waitFor();
  expect(await headline(approver).inputValue()).toBe('Second words');
});

test('a writer requests approval, revises the draft after it is sent back, and publishes the approved revision', async () => {
  const writer = await signIn('Writer');
  await write(writer, 'Needs a second look');
  await button(writer, 'Request approval…').click();
  await writer.getByLabel('Comment').fill('For Monday');
  expect(await axeProblems(writer)).toEqual([]);
  await button(writer, 'Request approval').click();
  await writer.getByText('Approval requested', { exact: true }).waitFor();
  expect(await button(writer, 'Publish…').count()).toBe(0);

  const approver = await signIn('Approver');
  await approver.getByText('Also here: Writer').waitFor();
  await approver.getByRole('link', { name: 'Campaigns' }).first().click();
  await approver.getByRole('radio', { name: 'To approve' }).check();
  const rows = approver.locator('.list-row:not(.list-heads)');
  await expect.poll(() => rows.count()).toBe(1);
  await rows.getByText('To approve').waitFor();
  await rows.getByRole('link').first().click();
  const review = async (page: Page, comment: string, action: string) => {
    await button(page, 'Review…').click();
    await page.getByLabel('Comment').fill(comment);
    await button(page, action).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await button(approver, 'Review…').click();
  await approver.getByRole('list', { name: 'Review' }).getByText('For Monday').waitFor();
  await button(approver, 'Cancel').click();
  await review(approver, 'Too long', 'Send back');

  await writer.evaluate(() => dispatchEvent(new Event('online')));
  await writer.getByText('Sent back', { exact: true }).waitFor();
  await write(writer, 'Short');
  await review(writer, 'Shorter now', 'Request approval');
  await approver.evaluate(() => dispatchEvent(new Event('online')));
  await approver.getByText('Approval requested', { exact: true }).waitFor();
  await expect.poll(() => headline(approver).inputValue()).toBe('Short');
  await review(approver, '', 'Approve');

  await writer.evaluate(() => dispatchEvent(new Event('online')));
  await writer.getByText('Approved', { exact: true }).waitFor();
  // Only the approved draft can be published: another edit needs another approval.
  await write(writer, 'Shorter');
  await writer.getByText('Changed since approval').waitFor();
  await reason(writer).waitFor();
  await button(writer, 'Undo').click();
  await writer.getByText('Draft saved').waitFor();
  await review(writer, '', 'Request approval');
  await approver.evaluate(() => dispatchEvent(new Event('online')));
  await approver.getByText('Approval requested', { exact: true }).waitFor();
  await review(approver, '', 'Approve');
  await writer.evaluate(() => dispatchEvent(new Event('online')));
  await button(writer, 'Publish…').click();
  await button(writer, 'Publish now').click();
  await writer.getByText(/^Release \d+ is live/).waitFor();
});

test('a writer compares a campaign with another environment, and copies it there as a draft', async () => {
  const writer = await signIn('Writer');
  await button(writer, 'Copy to environment…').click();
  await writer.getByLabel('Your operator key there').fill('Ed-key');
  await button(writer, 'Compare').click();
  await writer.getByText('New in Production').waitFor();
  expect(await axeProblems(writer)).toEqual([]);
  await button(writer, 'Copy to Production').click();
  const link = writer.getByRole('link', { name: 'Check and publish it there' });
  await link.waitFor();
  expect(await link.getAttribute('href')).toBe(`${productionPort.url}/campaigns/gift-wrap`);
  const drafts = await production.store.studio.drafts('test');
  expect(drafts.map(({ campaignId, editor }) => [campaignId, editor])).toEqual([['gift-wrap', 'Ed']]);
  await writer.close();
});

test('invites an operator by a link that works once and shows the key', async () => {
  const admin = await signIn('Admin');
  await admin.getByRole('link', { name: 'Access', exact: true }).click();
  await admin.getByRole('button', { name: 'Invite…' }).click();
  const dialog = admin.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Nia');
  await dialog.getByLabel('Role').selectOption('publish');
  expect(await dialog.getByLabel('Can view users').count()).toBe(0);
  await dialog.getByLabel('Your operator key').fill('Writer-key');
  expect(await axeProblems(admin)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create link' }).click();
  await dialog.getByText('Wrong operator key').waitFor();
  await dialog.getByLabel('Your operator key').fill('Admin-key');
  await dialog.getByRole('button', { name: 'Create link' }).click();
  const link = await dialog.getByLabel('Link').inputValue();
  expect(await axeProblems(admin)).toEqual([]);
  await dialog.getByRole('button', { name: 'Close' }).click();
  const row = admin.getByRole('region', { name: 'Operators' }).getByRole('row', { name: /^Nia/ });
  await row.getByText('Invited by Admin, not accepted yet.').waitFor();

  const invited = await browser.newPage({ locale: 'en-GB', viewport: { width: 360, height: 740 } });
  await invited.goto(link);
  await invited.getByRole('heading', { name: 'Placard Studio' }).waitFor();
  expect(await axeProblems(invited)).toEqual([]);
  await invited.getByRole('button', { name: 'Accept invitation' }).click();
  const key = await invited.getByLabel('Your operator key').inputValue();
  expect(key).toMatch(/^op_[\w-]{43}$/);
  expect(await axeProblems(invited)).toEqual([]);
  await invited.getByRole('button', { name: 'Continue' }).click();
  await invited.getByRole('heading', { name: 'Campaigns' }).waitFor();
  expect(invited.url()).not.toContain('#');
  await invited.getByText('Nia').waitFor();
  const titles: string[] = [];
  await invited.exposeFunction('onTitle', (title: string) => titles.push(title));
  await invited.addInitScript(
    `new MutationObserver(() => onTitle(document.title)).observe(document, { childList: true, subtree: true })`,
  );
  await invited.goto(link);
  await invited.getByRole('button', { name: 'Accept invitation' }).click();
  await invited.getByText(/This invitation was used, removed or has expired/).waitFor();
  expect(titles.filter((title) => title.startsWith('Not found'))).toEqual([]);
  expect(titles).toContain('Invitation · Studio');
  await invited.close();

  await admin.reload();
  await row.getByText('Invited by Admin', { exact: true }).waitFor();
  await row.getByRole('button', { name: 'Remove Nia' }).click();
  await row.waitFor({ state: 'detached' });
  await admin.close();
});
