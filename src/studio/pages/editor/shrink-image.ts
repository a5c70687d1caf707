import { formatBytes, MAX_IMAGE_BYTES } from '../../campaign/image-rules.ts';
import { Refused } from '../call.ts';

const MAX_BYTES = 12 * 1024 * 1024;
/** Encodings from the best to the smallest. JPEG is for browsers whose canvas cannot encode WebP. */
const TRIES = ['image/webp', 'image/jpeg'].flatMap((type) =>
  [
    { side: 2_048, quality: 0.85 },
    { side: 2_048, quality: 0.7 },
    { side: 1_400, quality: 0.7 },
  ].map((each) => ({ ...each, type })),
);

/**
 * Returns a copy of an image that fits the upload limit, scaled down and without metadata. Rejects animations, files over 12 MB
 * and files that the browser cannot decode.
 */
export const shrinkImage = async (file: File): Promise<File> => {
  const named = `“${file.name}” is ${formatBytes(file.size)}`;
  if (file.size > MAX_BYTES) throw new Refused(`${named}; the limit is 12 MB.`);
  if (file.type === 'image/gif') throw new Refused(`${named}; the limit for GIF is 1 MB.`);
  const image = await createImageBitmap(file).catch(() => {
    throw new Refused(`“${file.name}” cannot be read as an image.`);
  });
  for (const { side, quality, type } of TRIES) {
    const scale = Math.min(1, side / Math.max(image.width, image.height));
    const [width, height] = [image.width, image.height].map((pixels) =>
      Math.max(1, Math.round(pixels * scale)),
    );
    const canvas = new OffscreenCanvas(width!, height!);
    canvas.getContext('2d')!.drawImage(image, 0, 0, width!, height!);
    const blob = await canvas.convertToBlob({ type, quality });
    if (blob.type !== type || blob.size > MAX_IMAGE_BYTES) continue;
    return new File([blob], `${file.name.replace(/\.\w+$/, '')}.${type.slice('image/'.length)}`, { type });
  }
  throw new Refused(`${named} and cannot be scaled down to 1 MB. Resize it or use WebP.`);
};
