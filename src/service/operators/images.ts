import { formatColumnNames } from '../sql/columns.ts';
import type { RunSql } from '../sql/row-readers.ts';
import {
  bigint,
  bytes,
  defineRow,
  defineTable,
  enumText,
  pickFields,
  type RowOf,
  text,
} from '../sql/table.ts';
import { createInsert } from '../sql/writes.ts';

/** Supported image formats, which are also the file extensions in URLs. Excludes SVG, because it may contain scripts. */
export const IMAGE_TYPES = ['png', 'jpeg', 'webp', 'avif', 'gif'] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

const IMAGE = defineRow({
  /** SHA-256 of the bytes in hexadecimal digits. */
  hash: text('hash'),
  workspaceId: text('workspace_id'),
  type: enumText('type', IMAGE_TYPES),
  /** Width and height in pixels. */
  width: bigint('width'),
  height: bigint('height'),
  /** Size in bytes. */
  size: bigint('size'),
  /** Original file name. */
  name: text('name'),
  author: text('author'),
  createdAtMs: bigint('created_at_ms'),
});

/** Metadata of an uploaded image. */
export type Image = RowOf<typeof IMAGE>;

/** The bytes are the last column, so that SQLite can read the other columns without them. */
export const IMAGES = defineTable(
  'images',
  { ...IMAGE.fields, bytes: bytes('bytes') },
  { key: 'hash, workspace_id', hasLargeRows: true },
);

const addImage = createInsert(IMAGES, ' ON CONFLICT DO NOTHING RETURNING hash');

/** Image as served to pages. */
const IMAGE_FILE = pickFields(IMAGES, ['type', 'bytes']);
export type ImageFile = RowOf<typeof IMAGE_FILE>;

/** Images that campaigns of a workspace may show. */
export interface ImageStore {
  /** Returns all images of a workspace, newest first. */
  images(workspaceId: string): Promise<Image[]>;
  /** Adds an image. Returns `false` if the workspace already has it. */
  addImage(image: Image, bytes: ImageFile['bytes']): Promise<boolean>;
  /** Removes an image. Returns `false` if the workspace does not have it. */
  removeImage(workspaceId: string, hash: string): Promise<boolean>;
}

export const createImageStore = (run: RunSql): ImageStore => ({
  async images(workspaceId) {
    const rows = await run(
      `SELECT ${formatColumnNames(IMAGE.columns)} FROM images
       WHERE workspace_id = $1 ORDER BY created_at_ms DESC, hash`,
      [workspaceId],
    );
    return rows.map(IMAGE.read);
  },

  async addImage(image, bytes) {
    const { sql, values } = addImage({ ...image, bytes });
    return (await run(sql, values)).length === 1;
  },

  async removeImage(workspaceId, hash) {
    const rows = await run('DELETE FROM images WHERE workspace_id = $1 AND hash = $2 RETURNING hash', [
      workspaceId,
      hash,
    ]);
    return rows.length === 1;
  },
});

/**
 * Creates a function that returns the image with a hash in any workspace; `null` if none. Use it for pages, not for operators.
 */
export const createReadImage =
  (run: RunSql) =>
  async (hash: string): Promise<ImageFile | null> => {
    const [row] = await run('SELECT type, bytes FROM images WHERE hash = $1 LIMIT 1', [hash]);
    return row ? IMAGE_FILE.read(row) : null;
  };
