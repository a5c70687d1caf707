import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openStore, type Store } from '../../../src/service/index.ts';
import { formatBytes } from '../../../src/studio/campaign/image-rules.ts';
import { aCampaign } from '../../helpers/a-workspace.ts';
import { anAvif, aPng } from '../../helpers/an-image.ts';
import { keptOpen, STORES } from '../../helpers/running-service.ts';
import {
  aStudioWorkspace,
  type RunningStudio,
  runStudio,
  SERVICE_URL,
} from '../../helpers/running-studio.ts';

const MEGABYTE = 1024 * 1024;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const JPEG = Buffer.from(
  'ffd8ffe000104a46494600010100000100010000ffc00011080258032003012200021101031101ffd9',
  'hex',
);
const GIF = Buffer.from('47494638396120030a00f00000000000ffffff2c00000000010001000002024401003b', 'hex');
const SVG = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>1</script></svg>',
);

const showing = (image: string, more: Record<string, unknown> = {}) =>
  aCampaign({
    campaign_id: 'sale',
    name: 'Sale',
    placements: ['home'],
    variants: [
      {
        variant_id: 'a',
        properties: { headline: { type: 'string', value: 'Sale' }, image: { type: 'image', value: image } },
      },
    ],
    ...more,
  });

describe.each(STORES)('image library on $name', ({ address }) => {
  let store: Store;
  let studio: RunningStudio;
  let ed: string;
  beforeEach(async () => {
    store = await openStore(await address());
    studio = await runStudio(aStudioWorkspace(), { store: keptOpen(store) });
    ed = await studio.signIn('Ed');
  });
  afterEach(async () => {
    await studio.stop();
    await store.close();
  });

  const upload = (bytes: Uint8Array, name = 'spring.png', cookie = ed) =>
    studio.call('POST', '/api/images', {
      body: { name, base64: Buffer.from(bytes).toString('base64') },
      cookie,
    });
  const list = async () => (await studio.call('GET', '/api/images', { cookie: ed })).body;
  const remove = (hash: string) => studio.call('DELETE', `/api/images/${hash}`, { cookie: ed });
  /** Requests an image from the service as a page of any origin does. */
  const load = (url: string, method = 'GET') =>
    studio.service.fetch(new Request(url.replace(SERVICE_URL, 'http://localhost'), { method }));

  test('stores an image once, lists the newest first, and serves it to any site permanently', async () => {
    const png = aPng(40, 20);
    const { status, body: row } = await upload(png);
    expect([status, row]).toEqual([
      201,
      {
        hash: sha256(png),
        url: `${SERVICE_URL}/images/${sha256(png)}.png`,
        name: 'spring.png',
        width: 40,
        height: 20,
        bytes: png.byteLength,
      },
    ]);
    studio.clock.now += 1_000;
    const jpeg = await upload(JPEG, 'autumn.jpg');
    expect(jpeg.body).toMatchObject({ width: 800, height: 600 });
    expect((await upload(GIF, 'a.gif')).body).toMatchObject({ width: 800, height: 10 });
    // The same image under another name is not stored again.
    expect(await upload(png, 'again.png')).toMatchObject({ status: 200, body: row });
    const { images, problem, warning } = await list();
    expect([images.length, images.at(-1), problem, warning]).toEqual([3, row, null, null]);

    const shown = await load(row.url);
    expect(shown.status).toBe(200);
    expect(Buffer.from(await shown.arrayBuffer())).toEqual(png);
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
    });
    expect((await load(jpeg.body.url)).headers.get('content-type')).toBe('image/jpeg');
    for (const wrong of [`${'0'.repeat(64)}.png`, `${sha256(png)}.svg`, sha256(png), 'x', '%2e%2e']) {
      expect((await load(`${SERVICE_URL}/images/${wrong}`)).status, wrong).toBe(404);
    }
    expect((await load(row.url, 'POST')).status).toBe(405);
  });

  test('rejects an image that is invalid, too large in bytes or pixels, or sent by the wrong role', async () => {
    const getRefusal = async (bytes: Uint8Array, cookie = ed) => {
      const { status, body } = await upload(bytes, 'x.png', cookie);
      return [status, body.message];
    };
    const kinds = 'Unsupported image. Use PNG, JPEG, WebP, AVIF, GIF.';
    expect(await getRefusal(SVG)).toEqual([415, kinds]);
    expect(await getRefusal(Buffer.from('<!doctype html><script>1</script>'))).toEqual([415, kinds]);
    expect(await getRefusal(aPng(40, 20).subarray(0, 12))).toEqual([415, kinds]);
    const fits = aPng(1, 1);
    const exact = aPng(1, 1, [0, 0, 0], MEGABYTE - fits.byteLength - 12);
    expect(exact.byteLength).toBe(MEGABYTE);
    expect((await upload(exact)).status).toBe(201);
    const tooLarge = [413, 'The image limit is 1 MB. Resize it or use WebP'];
    expect(await getRefusal(Buffer.concat([exact, Buffer.from('a')]))).toEqual(tooLarge);
    expect(await getRefusal(Buffer.concat([exact, exact]))).toEqual(tooLarge);
    expect(await getRefusal(anAvif(200_000))).toEqual([415, kinds]);
    const bounds = 'the limit is 8,192 per side and 16,777,216 in total.';
    expect(await getRefusal(aPng(8_193, 1))).toEqual([422, `The image has 8193 × 1 pixels: ${bounds}`]);
    const ofSize = (width: number, height: number) => {
      const gif = Buffer.from(GIF);
      gif.writeUInt16LE(width, 6);
      gif.writeUInt16LE(height, 8);
      return gif;
    };
    expect(await getRefusal(ofSize(4_097, 4_096))).toEqual([
      422,
      `The image has 4097 × 4096 pixels: ${bounds}`,
    ]);
    expect(await getRefusal(ofSize(0, 0))).toEqual([422, 'The image has 0 × 0 pixels: it is empty.']);
    for (const name of ['a\0.png', 'a\ud800.png']) {
      const { status, body } = await upload(fits, name);
      expect([status, body.message]).toEqual([
        400,
        expect.stringContaining('without U+0000 or unpaired surrogates: name'),
      ]);
    }
    const most = ofSize(4_096, 4_096);
    expect((await upload(most)).status).toBe(201);
    expect((await remove(sha256(most))).status).toBe(204);
    const vera = await studio.signIn('Vera');
    expect((await getRefusal(fits, vera))[0]).toBe(403);
    expect((await studio.call('GET', '/api/images', { cookie: vera })).status).toBe(200);
    expect((await list()).images).toHaveLength(1);
  });

  test('deletes an image everywhere within a minute, unless a draft, live or scheduled release uses it', async () => {
    const pia = await studio.signIn('Pia');
    const { hash, url } = (await upload(aPng(4, 4))).body;
    const save = (image: string, basedOn: number, more = {}) =>
      studio.call('PUT', '/api/drafts/sale', {
        body: { campaign: showing(image, more), based_on: basedOn },
        cookie: pia,
      });
    const publish = async (revision: string, more: Record<string, unknown> = {}) =>
      (
        await studio.call('POST', '/api/releases', {
          body: { campaign_id: 'sale', revision, note: '', ...more },
          cookie: pia,
        })
      ).body.release;
    const refused = { status: 409, body: { message: 'In use by: “Sale”' } };
    const draft = (await save(url, 0)).body;
    expect(await remove(hash)).toMatchObject(refused);
    const live = await publish(draft.revision);
    expect(await remove(hash)).toMatchObject(refused);
    expect(await publish((await save('/own.png', live)).body.revision)).toBe(2);
    const again = await save(url, 2);
    const later = new Date(studio.clock.now + 3_600_000).toISOString();
    expect(await publish(again.body.revision, { live_at: later })).toBe(3);
    expect(await remove(hash)).toMatchObject(refused);
    expect(await publish((await save('/own.png', 3)).body.revision, { scheduled: 'cancel' })).toBe(4);

    // The scheduled release was canceled. Only the history references the image now.
    expect((await load(url)).status).toBe(200);
    studio.clock.now += 1_000;
    expect((await remove(hash)).status).toBe(204);
    expect((await remove(hash)).status).toBe(404);
    expect((await list()).images).toEqual([]);
    studio.clock.now += 60_000;
    expect((await load(url)).status).toBe(404);
    const ada = await studio.signIn('Ada');
    const { entries } = (await studio.call('GET', '/api/audit?find=image', { cookie: ada })).body;
    expect(entries.map((each: { action: string; subject: string }) => [each.action, each.subject])).toEqual([
      ['image.delete', 'spring.png'],
      ['image.upload', 'spring.png'],
    ]);
  });

  test('logs an image once in the audit log if two operators delete it at once', async () => {
    const { hash } = (await upload(aPng(4, 4))).body;
    const removeImage: Store['studio']['removeImage'] = async (workspaceId, each) => {
      await store.studio.removeImage(workspaceId, each);
      return store.studio.removeImage(workspaceId, each);
    };
    const slower = await runStudio(aStudioWorkspace(), {
      store: { ...keptOpen(store), studio: { ...store.studio, removeImage } },
    });
    onTestFinished(() => slower.stop());
    const cookie = await slower.signIn('Ed');
    expect((await slower.call('DELETE', `/api/images/${hash}`, { cookie })).status).toBe(204);
    const ada = await studio.signIn('Ada');
    const { entries } = (await studio.call('GET', '/api/audit?find=delete', { cookie: ada })).body;
    expect(entries).toEqual([]);
  });

  test('blocks publishing and restoring a message whose image is missing', async () => {
    const { hash, url } = (await upload(aPng(4, 4))).body;
    const variant = {
      variant_id: 'a',
      properties: {
        headline: { type: 'string', value: 'Sale' },
        image: { type: 'image', value: url },
        image_alt: { type: 'string', value: 'A jug' },
      },
      translations: { de: { headline: 'Angebot', image: url, image_alt: 'Ein Krug' } },
    };
    const campaign = showing(url, { language: 'en', variants: [variant] });
    const found = async () => {
      const { body } = await studio.call('POST', '/api/validation', { body: { campaign }, cookie: ed });
      return body.checks.filter(({ message }: { message: string }) => message.startsWith('Image not found'));
    };
    expect(await found()).toEqual([]);
    const pia = await studio.signIn('Pia');
    const save = async (content: unknown, based_on: number) =>
      (await studio.call('PUT', '/api/drafts/sale', { body: { campaign: content, based_on }, cookie: ed }))
        .body;
    const publish = async (revision: string) =>
      studio.call('POST', '/api/releases', {
        body: { campaign_id: 'sale', revision, note: '' },
        cookie: pia,
      });
    expect((await publish((await save(campaign, 0)).revision)).status).toBe(201);
    expect((await publish((await save(showing('/own.png'), 1)).revision)).status).toBe(201);
    studio.clock.now += 1_000;
    expect((await remove(hash)).status).toBe(204);
    const message = 'Image not found. Choose another one.';
    expect(await found()).toEqual([
      { severity: 'error', path: ['variants', 0, 'properties', 'image'], message },
      { severity: 'error', path: ['variants', 0, 'translations', 'de', 'image'], message },
    ]);
    const saved = await save(campaign, 2);
    expect(saved.checks[0]).toMatchObject({ severity: 'error', message });
    const refused = { status: 422, body: { message: `Cannot publish: ${message}` } };
    expect(await publish(saved.revision)).toMatchObject(refused);
    const restored = await studio.call('POST', '/api/releases/1/restore', {
      body: { note: '', based_on: 2 },
      cookie: pia,
    });
    expect(restored).toMatchObject(refused);
    expect(await studio.headlines('u-1', ['home'])).toEqual({ home: 'Sale' });
  });

  test('reads the database once for an image that many pages load, even with requests for missing images', async () => {
    const { url } = (await upload(aPng(4, 4))).body;
    let reads = 0;
    const image: Store['image'] = (hash) => {
      reads += 1;
      return store.image(hash);
    };
    const counted = await runStudio(aStudioWorkspace(), { store: { ...keptOpen(store), image } });
    onTestFinished(() => counted.stop());
    const path = `http://localhost${new URL(url).pathname}`;
    const all = await Promise.all(Array.from({ length: 50 }, () => counted.service.fetch(new Request(path))));
    expect(all.every(({ status }) => status === 200)).toBe(true);
    expect(reads).toBe(1);
    const unknown = (index: number) =>
      counted.service.fetch(
        new Request(`http://localhost/images/${index.toString(16).padStart(64, '0')}.png`),
      );
    const others = await Promise.all(Array.from({ length: 40 }, (_, index) => unknown(index)));
    expect(others.every(({ status }) => status === 404)).toBe(true);
    expect(reads).toBe(41);
    expect((await counted.service.fetch(new Request(path))).status).toBe(200);
    expect(reads).toBe(41);
  });

  test('accepts images up to its limit, which the list then reports', async () => {
    const { workspaceId } = studio.workspaces.registry().workspaces[0]!;
    const one = {
      workspaceId,
      type: 'png',
      width: 1,
      height: 1,
      size: 1,
      name: 'x',
      author: 'Ed',
      createdAtMs: 1,
    } as const;
    const hashes = Array.from({ length: 299 }, (_, index) => index.toString(16).padStart(64, '0'));
    await Promise.all(hashes.map((hash) => store.studio.addImage({ ...one, hash }, new Uint8Array(1))));
    expect((await list()).problem).toBeNull();
    expect((await upload(aPng(2, 1))).status).toBe(201);
    const full = 'Image limit (300) reached. Delete unused images.';
    expect((await list()).problem).toBe(full);
    expect(await upload(aPng(3, 1))).toMatchObject({ status: 409, body: { message: full } });
  });
});

test('rejects uploads without a service URL, and the list states who can set it', async () => {
  const studio = await runStudio(aStudioWorkspace(), { serviceUrl: null });
  onTestFinished(() => studio.stop());
  const cookie = await studio.signIn('Ed');
  const { body } = await studio.call('GET', '/api/images', { cookie });
  expect(body).toEqual({ images: [], problem: expect.stringContaining('--service-url'), warning: null });
  const upload = { name: 'a.png', base64: aPng(1, 1).toString('base64') };
  expect((await studio.call('POST', '/api/images', { body: upload, cookie })).status).toBe(409);
});

test.each(['http://127.0.0.1:8787', 'http://localhost:8787', 'http://[::1]:8787'])(
  'warns in the list that only this machine can load the images if the service URL is %s',
  async (serviceUrl) => {
    const studio = await runStudio(aStudioWorkspace(), { serviceUrl });
    onTestFinished(() => studio.stop());
    const { body } = await studio.call('GET', '/api/images', { cookie: await studio.signIn('Ed') });
    expect(body).toEqual({
      images: [],
      problem: null,
      warning: 'Only this machine can load images. Set --service-url to a public URL.',
    });
  },
);

test('formats the size of a file that is too large differently from one that fits', () => {
  expect([1, 84 * 1024, MEGABYTE, MEGABYTE + 1, 1.5 * MEGABYTE].map(formatBytes)).toEqual([
    '1 KB',
    '84 KB',
    '1024 KB',
    '1.1 MB',
    '1.5 MB',
  ]);
});
