import { crc32, deflateSync } from 'node:zlib';

const chunk = (name: string, data: Buffer): Buffer => {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const bytes = Buffer.alloc(named.length + 8);
  bytes.writeUInt32BE(data.length, 0);
  named.copy(bytes, 4);
  bytes.writeUInt32BE(crc32(named), named.length + 4);
  return bytes;
};

/** Returns a PNG of one color. `padding`: bytes of an ancillary chunk that is not displayed. */
export const aPng = (
  width: number,
  height: number,
  colour: readonly [number, number, number] = [39, 70, 196],
  padding = 0,
): Buffer<ArrayBuffer> => {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const line = Buffer.from([0, ...Array.from({ length: width }, () => colour).flat()]);
  const pixels = Buffer.concat(Array.from({ length: height }, () => line));
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    ...(padding > 0 ? [chunk('tEXt', Buffer.alloc(padding, 'a'))] : []),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};

const box = (type: string, ...parts: Buffer[]): Buffer => {
  const data = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + data.length, 0);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, data]);
};

/** Returns an AVIF without an image whose item property table has `entries` entries. */
export const anAvif = (entries: number): Buffer<ArrayBuffer> => {
  const count = Buffer.alloc(8);
  count.writeUInt32BE(entries, 4);
  // An entry is an item ID (2 bytes) and its number of properties.
  const list = box('ipma', count, Buffer.alloc(entries * 3));
  return Buffer.concat([
    box('ftyp', Buffer.from('avif\0\0\0\0', 'latin1')),
    box('meta', Buffer.alloc(4), box('iprp', list)),
  ]);
};
