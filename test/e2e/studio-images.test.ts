// An image from a marketer's machine to the shop, in a real browser.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aPng } from '../helpers/an-image.ts';
import { axeProblems } from '../helpers/axe-problems.ts';
import { openStudioBrowser, type StudioBrowser } from '../helpers/studio-browser.ts';

let studio: StudioBrowser;
beforeAll(async () => {
  studio = await openStudioBrowser();
});
afterAll(() => studio?.stop());

test('uploads, previews and publishes an image, which the shop shows and the next campaign can reuse', async () => {
  const page = await studio.open('/campaigns/spring-collection', { bypassCSP: true });
  await page.getByRole('button', { name: 'Choose or upload an image for Image' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Images' });
  await dialog.getByText('At most 12 MB: PNG, JPEG, WebP, AVIF, GIF.').waitFor();
  const file = dialog.getByLabel('Upload an image, or drop one here');
  const png = (name: string, buffer: Buffer) => ({ name, mimeType: 'image/png', buffer });
  await file.setInputFiles(png('huge.png', aPng(1, 1, [0, 0, 0], 12.2 * 1024 * 1024)));
  await dialog.getByText('“huge.png” is 12.3 MB; the limit is 12 MB.').waitFor();
  await file.setInputFiles(png('letter.png', Buffer.from('Dear Sir')));
  await dialog.getByText('Unsupported image.').waitFor();
  await file.setInputFiles(png('kiln.png', aPng(640, 360)));
  await dialog.waitFor({ state: 'detached' });
  const image = page.getByLabel('Image', { exact: true });
  const url = await image.inputValue();
  expect(url).toMatch(new RegExp(`^${studio.serviceUrl}/images/[\\da-f]{64}\\.png$`));
  // The preview draws it.
  const drawn = page.frameLocator('.glass iframe').locator(`img[src="${url}"]`).first();
  await expect.poll(() => drawn.evaluate((each: HTMLImageElement) => each.naturalWidth)).toBe(640);
  await page.getByText('Draft saved').waitFor();
  await page.getByRole('button', { name: 'Publish…' }).click();
  await page.getByRole('button', { name: 'Publish now' }).click();
  await page.getByText(/Release \d+ is live/).waitFor();

  const shop = await page.context().newPage();
  await shop.goto(studio.serviceUrl);
  const shown = shop.locator(`img[src="${url}"]`).first();
  await expect.poll(() => shown.evaluate((each: HTMLImageElement) => each.naturalWidth)).toBe(640);

  // The library offers it to other campaigns, and keeps it while it is in use.
  await page.getByRole('button', { name: 'Choose or upload an image for Image' }).first().click();
  await dialog.getByRole('button', { name: 'kiln.png 640 × 360' }).waitFor();
  expect(await axeProblems(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Delete kiln.png' }).click();
  const question = page.getByRole('dialog', { name: 'Delete “kiln.png”?' });
  await question.getByRole('button', { name: 'Delete' }).click();
  await question.getByText('In use by: “Spring collection”').waitFor();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await dialog.getByRole('button', { name: 'kiln.png 640 × 360' }).click();
  expect(await image.inputValue()).toBe(url);
  await page.context().close();
});

test('scales an image over 1 MB down to a WebP image, and rejects an animation of that size', async () => {
  const page = await studio.open('/campaigns/gift-wrap', { bypassCSP: true });
  await page.getByRole('button', { name: 'Choose or upload an image for Image' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Images' });
  const file = dialog.getByLabel('Upload an image, or drop one here');
  const buffer = aPng(3_000, 1_500, [200, 90, 40], 1.4 * 1024 * 1024);
  await file.setInputFiles({ name: 'moving.gif', mimeType: 'image/gif', buffer });
  await dialog.getByText('“moving.gif” is 1.5 MB; the limit for GIF is 1 MB.').waitFor();
  await file.setInputFiles({ name: 'photo.png', mimeType: 'image/png', buffer });
  const crop = page.getByRole('dialog', { name: 'Crop image' });
  await crop.getByLabel('Original').check();
  await crop.getByRole('button', { name: 'Upload' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await page.getByLabel('Image', { exact: true }).inputValue()).toMatch(/\.webp$/);
  await page.getByRole('button', { name: 'Choose or upload an image for Image' }).first().click();
  await dialog.getByRole('button', { name: 'photo.webp 2048 × 1024' }).waitFor();
  await page.context().close();
});

test('crops an image to the shape of the template before the upload, by pointer, keys and zoom', async () => {
  const page = await studio.open('/campaigns/spring-collection', { bypassCSP: true });
  await page.getByRole('button', { name: 'Choose or upload an image for Image' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Images' });
  // Red on the left and blue on the right.
  const base64 = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(1_600, 600);
    const context = canvas.getContext('2d')!;
    context.fillStyle = '#f00';
    context.fillRect(0, 0, 800, 600);
    context.fillStyle = '#00f';
    context.fillRect(800, 0, 800, 600);
    const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  });
  const wide = { name: 'wide.png', mimeType: 'image/png', buffer: Buffer.from(base64, 'base64') };
  const file = dialog.getByLabel('Upload an image, or drop one here');
  const crop = page.getByRole('dialog', { name: 'Crop image' });
  await file.setInputFiles(wide);
  await crop.getByText('1,067 × 600 pixels').waitFor();
  expect(await axeProblems(page)).toEqual([]);
  await crop.getByRole('button', { name: 'Cancel' }).click();
  expect(await dialog.getByRole('button', { name: /^wide/ }).count()).toBe(0);

  await file.setInputFiles(wide);
  const area = crop.getByRole('application', { name: 'Cropped area' });
  const { x, y, width, height } = (await area.boundingBox())!;
  await page.mouse.move(x + 5, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width - 5, y + height / 2);
  await page.mouse.up();
  // A click moves it without dragging: by half of its width to the right, and back.
  await area.click({ position: { x: width - 1, y: height / 2 } });
  await area.click({ position: { x: 1, y: height / 2 } });
  await area.press('ArrowRight');
  const zoom = crop.getByLabel('Zoom');
  await zoom.press('End');
  await crop.getByText('267 × 150 pixels').waitFor();
  await zoom.press('Home');
  await crop.getByRole('button', { name: 'Crop and upload' }).click();
  await dialog.waitFor({ state: 'detached' });
  const url = await page.getByLabel('Image', { exact: true }).inputValue();
  expect(url).toMatch(/\.webp$/);
  await page.goto(url);
  const pixels = await page.evaluate(async () => {
    const image = await createImageBitmap(await (await fetch(location.href)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d')!;
    context.drawImage(image, 0, 0);
    const isRed = (share: number) => {
      const [red, , blue] = context.getImageData(Math.round(image.width * share), 300, 1, 1).data;
      return red! > blue!;
    };
    return { size: [image.width, image.height], isRed: [isRed(0.68), isRed(0.72)] };
  });
  // The left edge, moved by one step of 5%: red ends at (800 − 53) / 1,067.
  expect(pixels).toEqual({ size: [1_067, 600], isRed: [true, false] });
  await page.context().close();
});

test('keeps an image only in the library if its dialog is closed before the upload ends', async () => {
  const page = await studio.open('/campaigns/spring-collection', { bypassCSP: true });
  const choose = page.getByRole('button', { name: 'Choose or upload an image for Image' }).first();
  const dialog = page.getByRole('dialog', { name: 'Images' });
  const image = page.getByLabel('Image', { exact: true });
  const before = await image.inputValue();
  const sent = Promise.withResolvers<void>();
  const isClosed = Promise.withResolvers<void>();
  await page.route('**/api/images', async (route) => {
    if (route.request().method() === 'POST') {
      sent.resolve();
      await isClosed.promise;
    }
    await route.continue();
  });
  await choose.click();
  await dialog
    .getByLabel('Upload an image, or drop one here')
    .setInputFiles({ name: 'late.png', mimeType: 'image/png', buffer: aPng(32, 18) });
  await sent.promise;
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
  isClosed.resolve();
  await page.getByText('“late.png” is in the library.', { exact: true }).waitFor({ state: 'attached' });
  expect(await image.inputValue()).toBe(before);
  await choose.click();
  await dialog.getByRole('button', { name: 'late.png 32 × 18' }).waitFor();
  await page.context().close();
});
