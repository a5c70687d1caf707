import { formatBytes, MAX_IMAGE_BYTES } from '../../campaign/image-rules.ts';
import { ActionError } from '../call.ts';

const MAX_BYTES = 12 * 1024 * 1024;
/** Encodings from the best to the smallest. JPEG is for browsers whose canvas cannot encode WebP. */
const TRIES = ['image/webp', 'image/jpeg'].flatMap((type) =>
  [
    { side: 2_048, quality: 0.85 },
    { side: 2_048, quality: 0.7 },
    { side: 1_400, quality: 0.7 },
  ].map((each) => ({ ...each, type })),
);

/** Part of an image, in pixels. */
export interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

const describeSize = (file: File) => `“${file.name}” is ${formatBytes(file.size)}`;

/**
 * Decodes an image. Returns `null` for small files to upload unchanged: animations, and images that the browser cannot decode.
 * Throws an `ActionError` if the file is over 12 MB, or over the upload limit and cannot be scaled down.
 */
export const decodeImage = async (file: File): Promise<ImageBitmap | null> => {
  const isSmall = file.size <= MAX_IMAGE_BYTES;
  if (file.size > MAX_BYTES) throw new ActionError(`${describeSize(file)}; the limit is 12 MB.`);
  if (file.type === 'image/gif') {
    if (isSmall) return null;
    throw new ActionError(`${describeSize(file)}; the limit for GIF is 1 MB.`);
  }
  return createImageBitmap(file).catch(() => {
    if (isSmall) return null;
    throw new ActionError(`“${file.name}” cannot be read as an image.`);
  });
};

/** Returns a copy of a part of an image that fits the upload limit, scaled down and without metadata. */
export const encodeImage = async (file: File, image: ImageBitmap, area: Area): Promise<File> => {
  for (const { side, quality, type } of TRIES) {
    const scale = Math.min(1, side / Math.max(area.width, area.height));
    const [width, height] = [area.width, area.height].map((pixels) =>
      Math.max(1, Math.round(pixels * scale)),
    );
    const canvas = new OffscreenCanvas(width!, height!);
    canvas.getContext('2d')!.drawImage(image, area.x, area.y, area.width, area.height, 0, 0, width!, height!);
    const blob = await canvas.convertToBlob({ type, quality });
    if (blob.type !== type || blob.size > MAX_IMAGE_BYTES) continue;
    return new File([blob], `${file.name.replace(/\.\w+$/, '')}.${type.slice('image/'.length)}`, { type });
  }
  throw new ActionError(`${describeSize(file)} and cannot be scaled down to 1 MB. Resize it or use WebP.`);
};
