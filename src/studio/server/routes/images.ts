import { createHash } from 'node:crypto';
import { imageDimensionsFromData } from 'image-dimensions';
import * as z from 'zod';
import {
  HttpError,
  IMAGE_TYPES,
  IMAGES_PATH,
  type Image,
  type ImageType,
  isLoopback,
} from '../../../service/index.ts';
import { nameOf } from '../../campaign/campaign-json.ts';
import { currentCampaign } from '../../campaign/current-campaign.ts';
import { IMAGE_KINDS, MAX_IMAGE_BYTES } from '../../campaign/image-rules.ts';
import type { DraftCheck } from '../check-draft.ts';
import { bodyOf, defineRoute, type StudioContext } from '../route.ts';
import { campaignRows } from './campaigns.ts';

/** Images of one workspace: with 1 MB each they are 300 MB of the database and of each backup. */
const MAX_IMAGES = 300;
/** A file of 1 MB may hold an image that fills the memory of a phone: it takes 4 bytes a pixel. */
const MAX_SIDE = 8_192;
/** An AVIF names its size at the beginning. A whole file may hold 120,000 empty boxes. */
const MAX_BOXED_BYTES = 16 * 1024;
const MAX_PIXELS = 16_777_216;
const count = (pixels: number): string => pixels.toLocaleString('en-US');

export interface ImageRow {
  hash: string;
  /** What a campaign writes: it works on every site. */
  url: string;
  name: string;
  /** In pixels. */
  width: number;
  height: number;
  bytes: number;
}

export interface ImagesResponse {
  /** Newest first. */
  images: ImageRow[];
  /** Whether more can be uploaded; otherwise why not, as a sentence. */
  problem: string | null;
  /** Why other machines would not see them, as a sentence; `null` where they do. */
  warning: string | null;
}

const NO_URL =
  'Images cannot be uploaded here: the service does not know where browsers reach it. The option --service-url of the service says it.';
const ONLY_HERE =
  'Only this machine sees images until the service is started with a --service-url that others reach.';
const FULL = `The library is full: it has room for ${MAX_IMAGES} images. Delete some that no campaign uses.`;

const rowOf = ({ hash, type, name, width, height, size }: Image, serviceUrl: string): ImageRow => ({
  hash,
  url: `${serviceUrl}${IMAGES_PATH}/${hash}.${type}`,
  name,
  width,
  height,
  bytes: size,
});

export const listImages = defineRoute({
  method: 'GET',
  path: '/api/images',
  role: 'view',
  body: null,
  answer: async ({ studio, workspace, serviceUrl }) => {
    const all = serviceUrl === null ? [] : await studio.images(workspace.workspaceId);
    const problem = serviceUrl === null ? NO_URL : all.length < MAX_IMAGES ? null : FULL;
    const warning = serviceUrl !== null && isLoopback(new URL(serviceUrl).hostname) ? ONLY_HERE : null;
    const body: ImagesResponse = {
      images: all.map((each) => rowOf(each, serviceUrl ?? '')),
      problem,
      warning,
    };
    return { status: 200, body };
  },
});

/** What the bytes say of themselves; `undefined` where they are no image, or one that is made to exhaust its reader. */
const dimensionsOf = (bytes: Uint8Array) => {
  const isBoxed =
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1', 4, 8) === 'ftyp';
  try {
    return imageDimensionsFromData(isBoxed ? bytes.subarray(0, MAX_BOXED_BYTES) : bytes);
  } catch {
    return undefined;
  }
};

/** What the bytes are: their name and what a browser said of them count for nothing. Throws where they are no image that is taken. */
const readImage = (bytes: Uint8Array): { type: ImageType; width: number; height: number } => {
  const found = dimensionsOf(bytes);
  const type = IMAGE_TYPES.find((each) => each === found?.type);
  if (!found || type === undefined) {
    throw new HttpError(415, `This is no image that can be used. It has to be one of ${IMAGE_KINDS}.`);
  }
  const { width, height } = found;
  const size = `The image has ${width} × ${height} pixels`;
  if (Math.min(width, height) < 1) throw new HttpError(422, `${size}: there is nothing to see in it.`);
  if (Math.max(width, height) > MAX_SIDE || width * height > MAX_PIXELS) {
    throw new HttpError(
      422,
      `${size}: at most ${count(MAX_SIDE)} are taken on a side, and ${count(MAX_PIXELS)} altogether.`,
    );
  }
  return { type, width, height };
};

const TOO_LARGE = {
  status: 413,
  message: 'An image may have at most 1 MB: make it smaller, or save it as WebP',
};

const imageBody = z.strictObject({
  /** Of the file. */
  name: z.string().trim().min(1).max(200),
  /** Its bytes, in Base64. */
  base64: z.string().min(1),
});

/** Adds an image to the library of the workspace. One that is there already stays as it is. */
export const uploadImage = defineRoute({
  method: 'POST',
  path: '/api/images',
  role: 'edit',
  body: bodyOf(imageBody, {
    // Base64 is a third longer.
    maxBytes: Math.ceil(MAX_IMAGE_BYTES / 3) * 4 + 4_096,
    tooLarge: TOO_LARGE,
  }),
  answer: async ({ studio, workspace, operator, body, nowMs, serviceUrl, audit }) => {
    if (serviceUrl === null) throw new HttpError(409, NO_URL);
    const { workspaceId } = workspace;
    const bytes = Buffer.from(body.base64, 'base64');
    if (bytes.byteLength > MAX_IMAGE_BYTES) throw new HttpError(TOO_LARGE.status, TOO_LARGE.message);
    const { type, width, height } = readImage(bytes);
    const hash = createHash('sha256').update(bytes).digest('hex');
    const known = await studio.images(workspaceId);
    const before = known.find((each) => each.hash === hash);
    if (before) return { status: 200, body: rowOf(before, serviceUrl) };
    if (known.length >= MAX_IMAGES) throw new HttpError(409, FULL);
    const image: Image = {
      workspaceId,
      hash,
      type,
      width,
      height,
      size: bytes.byteLength,
      name: body.name,
      author: operator.name,
      createdAtMs: nowMs,
    };
    // Somebody may have been faster with the same one.
    if (await studio.addImage(image, bytes)) await audit('image.upload', body.name, `${hash}.${type}`);
    return { status: 201, body: rowOf(image, serviceUrl) };
  },
});

/** Names of the campaigns that show an image, or will: drafts, what is live, and what is scheduled. */
const usesOf = async (hash: string, context: StudioContext): Promise<string[]> => {
  const shows = (version: { campaign: unknown }) => JSON.stringify(version.campaign).includes(hash);
  return (await campaignRows(context)).flatMap((row) => {
    const { published, draft, scheduled, isArchived } = row;
    const versions = [
      ...(published && !isArchived ? [published] : []),
      ...(draft ? [draft] : []),
      ...scheduled,
    ];
    return versions.some(shows) ? [nameOf(currentCampaign(row))] : [];
  });
};

/** As much of a campaign as names its images. */
const imaged = z.object({
  variants: z.array(
    z.object({
      properties: z.record(z.string(), z.object({ value: z.unknown() })),
      translations: z.record(z.string(), z.record(z.string(), z.unknown())).nullish(),
    }),
  ),
});

/** What is wrong with the images of this service that a campaign shows and the library has not: sites would show none there. */
export const checkImages = async (
  campaign: unknown,
  { studio, workspace, serviceUrl }: StudioContext,
): Promise<DraftCheck[]> => {
  const before = `${serviceUrl}${IMAGES_PATH}/`;
  const { variants } = imaged.safeParse(campaign).data ?? { variants: [] };
  const texts = variants.flatMap(({ properties, translations }, index) => [
    ...Object.entries(properties).map(([name, { value }]) => ({ value, path: ['properties', name], index })),
    ...Object.entries(translations ?? {}).flatMap(([language, all]) =>
      Object.entries(all).map(([name, value]) => ({ value, path: ['translations', language, name], index })),
    ),
  ]);
  const shown = texts.filter(({ value }) => typeof value === 'string' && value.startsWith(before));
  if (shown.length === 0) return [];
  const known = new Set((await studio.images(workspace.workspaceId)).map(({ hash }) => hash));
  return shown
    .filter(({ value }) => !known.has(String(value).slice(before.length).split('.', 1)[0]!))
    .map(({ path, index }) => ({
      severity: 'error',
      path: ['variants', index, ...path],
      words: 'The library does not have this image any more: choose another one.',
    }));
};

/** Takes an image that no campaign uses out of the library. A former release that shows it shows none. */
export const removeImage = defineRoute({
  method: 'DELETE',
  path: '/api/images/{hash}',
  role: 'edit',
  body: null,
  answer: async (context) => {
    const { studio, workspace, params, audit } = context;
    const hash = params['hash']!;
    const image = (await studio.images(workspace.workspaceId)).find((each) => each.hash === hash);
    if (!image) throw new HttpError(404, 'There is no such image');
    const uses = await usesOf(hash, context);
    if (uses.length > 0) {
      throw new HttpError(409, `Campaigns use it: ${uses.map((name) => `“${name}”`).join(', ')}`);
    }
    // Somebody may have been faster.
    if (await studio.removeImage(workspace.workspaceId, hash))
      await audit('image.delete', image.name, `${hash}.${image.type}`);
    return { status: 204, text: '' };
  },
});
