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
import { getCampaignName } from '../../campaign/campaign-json.ts';
import { currentCampaign } from '../../campaign/current-campaign.ts';
import { IMAGE_KINDS, MAX_IMAGE_BYTES } from '../../campaign/image-rules.ts';
import type { DraftCheck } from '../check-draft.ts';
import { CustomResponse, defineBody, del, get, post, type ResponseOf, type StudioContext } from '../route.ts';
import { campaignRows } from './campaigns.ts';

/** Maximum images of a workspace. At 1 MB each, they take 300 MB of the database and of each backup. */
const MAX_IMAGES = 300;
/**
 * Maximum width and height in pixels, because a decoded image takes 4 bytes per pixel and a 1 MB file could exhaust a phone's
 * memory.
 */
const MAX_SIDE = 8_192;
/** Maximum bytes of an AVIF to parse. The dimensions are at the start, and a whole file could contain 120,000 empty boxes. */
const MAX_BOXED_BYTES = 16 * 1024;
const MAX_PIXELS = 16_777_216;
const count = (pixels: number): string => pixels.toLocaleString('en-US');

export interface ImageRow {
  hash: string;
  /** Absolute URL, valid on every site. */
  url: string;
  name: string;
  /** Width in pixels. */
  width: number;
  height: number;
  bytes: number;
}

const NO_URL = 'Images cannot be uploaded without a public URL of the service. Set --service-url.';
const ONLY_HERE = 'Only this machine can load images. Set --service-url to a public URL.';
const FULL = `Image limit (${MAX_IMAGES}) reached. Delete unused images.`;

const toImageRow = ({ hash, type, name, width, height, size }: Image, serviceUrl: string): ImageRow => ({
  hash,
  url: `${serviceUrl}${IMAGES_PATH}/${hash}.${type}`,
  name,
  width,
  height,
  bytes: size,
});

export const listImages = get('/api/images', 'view', async ({ studio, workspace, serviceUrl }) => {
  const all = serviceUrl === null ? [] : await studio.images(workspace.workspaceId);
  // Sentences with the reason that no more images can be uploaded, and that other devices cannot load them.
  const problem = serviceUrl === null ? NO_URL : all.length < MAX_IMAGES ? null : FULL;
  const warning = serviceUrl !== null && isLoopback(new URL(serviceUrl).hostname) ? ONLY_HERE : null;
  return {
    images: all.map((each) => toImageRow(each, serviceUrl ?? '')),
    problem,
    warning,
  };
});
export type ImagesResponse = ResponseOf<typeof listImages>;

/** Returns the dimensions in the file header; `undefined` if the file is not an image or is crafted to exhaust the parser. */
const readDimensions = (bytes: Uint8Array) => {
  const isBoxed =
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1', 4, 8) === 'ftyp';
  try {
    return imageDimensionsFromData(isBoxed ? bytes.subarray(0, MAX_BOXED_BYTES) : bytes);
  } catch {
    return undefined;
  }
};

/**
 * Detects type and dimensions from the bytes. Ignores the file name and the browser's content type. Throws if the file is not a
 * supported image.
 */
const readImage = (bytes: Uint8Array): { type: ImageType; width: number; height: number } => {
  const found = readDimensions(bytes);
  const type = IMAGE_TYPES.find((each) => each === found?.type);
  if (!found || type === undefined) {
    throw new HttpError(415, `Unsupported image. Use ${IMAGE_KINDS}.`);
  }
  const { width, height } = found;
  const size = `The image has ${width} × ${height} pixels`;
  if (Math.min(width, height) < 1) throw new HttpError(422, `${size}: it is empty.`);
  if (Math.max(width, height) > MAX_SIDE || width * height > MAX_PIXELS) {
    throw new HttpError(
      422,
      `${size}: the limit is ${count(MAX_SIDE)} per side and ${count(MAX_PIXELS)} in total.`,
    );
  }
  return { type, width, height };
};

const TOO_LARGE = {
  status: 413,
  message: 'The image limit is 1 MB. Resize it or use WebP',
};

const imageBody = z.strictObject({
  /** File name. */
  name: z.string().trim().min(1).max(200),
  /** Content in Base64. */
  base64: z.string().min(1),
});

/** Adds an image to the library. An existing image stays unchanged. */
export const uploadImage = post(
  '/api/images',
  'edit',
  defineBody(imageBody, {
    // Base64 adds a third to the size.
    maxBytes: Math.ceil(MAX_IMAGE_BYTES / 3) * 4 + 4_096,
    tooLarge: TOO_LARGE,
  }),
  async ({ studio, workspace, operator, body, nowMs, serviceUrl, audit }) => {
    if (serviceUrl === null) throw new HttpError(409, NO_URL);
    const { workspaceId } = workspace;
    const bytes = Buffer.from(body.base64, 'base64');
    if (bytes.byteLength > MAX_IMAGE_BYTES) throw new HttpError(TOO_LARGE.status, TOO_LARGE.message);
    const { type, width, height } = readImage(bytes);
    const hash = createHash('sha256').update(bytes).digest('hex');
    const images = await studio.images(workspaceId);
    const before = images.find((each) => each.hash === hash);
    if (before) return toImageRow(before, serviceUrl);
    if (images.length >= MAX_IMAGES) throw new HttpError(409, FULL);
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
    // A concurrent upload may have added the same image.
    if (await studio.addImage(image, bytes)) await audit('image.upload', body.name, `${hash}.${type}`);
    return new CustomResponse({ status: 201, body: toImageRow(image, serviceUrl) });
  },
);

/** Returns the names of campaigns that use an image in a draft, a live version or a scheduled release. */
const findImageUses = async (hash: string, context: StudioContext): Promise<string[]> => {
  const shows = (version: { campaign: unknown }) => JSON.stringify(version.campaign).includes(hash);
  return (await campaignRows(context)).flatMap((row) => {
    const { published, draft, scheduled, isArchived } = row;
    const versions = [
      ...(published && !isArchived ? [published] : []),
      ...(draft ? [draft] : []),
      ...scheduled,
    ];
    return versions.some(shows) ? [getCampaignName(currentCampaign(row))] : [];
  });
};

/** Parts of a campaign that contain images. */
const imaged = z.object({
  variants: z.array(
    z.object({
      properties: z.record(z.string(), z.object({ value: z.unknown() })),
      translations: z.record(z.string(), z.record(z.string(), z.unknown())).nullish(),
    }),
  ),
});

/** Returns errors for URLs of this service whose images are missing in the library, because sites could not load them. */
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
  const hashes = new Set((await studio.images(workspace.workspaceId)).map(({ hash }) => hash));
  return shown
    .filter(({ value }) => !hashes.has(String(value).slice(before.length).split('.', 1)[0]!))
    .map(({ path, index }) => ({
      severity: 'error',
      path: ['variants', index, ...path],
      message: 'Image not found. Choose another one.',
    }));
};

/** Deletes an image that no campaign uses. Previous releases may lose the image. */
export const removeImage = del('/api/images/{hash}', 'edit', async (context) => {
  const { studio, workspace, params, audit } = context;
  const hash = params['hash']!;
  const image = (await studio.images(workspace.workspaceId)).find((each) => each.hash === hash);
  if (!image) throw new HttpError(404, 'Image not found');
  const uses = await findImageUses(hash, context);
  if (uses.length > 0) {
    throw new HttpError(409, `In use by: ${uses.map((name) => `“${name}”`).join(', ')}`);
  }
  // A concurrent request may have deleted the image.
  if (await studio.removeImage(workspace.workspaceId, hash))
    await audit('image.delete', image.name, `${hash}.${image.type}`);
});
