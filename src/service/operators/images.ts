import { type RunSql, readBytes, readEnum, readNumber, readText, type SqlRow } from '../row-readers.ts';

/** Supported image formats, which are also the file extensions in URLs. Excludes SVG, because it may contain scripts. */
export const IMAGE_TYPES = ['png', 'jpeg', 'webp', 'avif', 'gif'] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

/** Metadata of an uploaded image. */
export interface Image {
  workspaceId: string;
  /** SHA-256 of the bytes in hexadecimal digits. */
  hash: string;
  type: ImageType;
  /** Width and height in pixels. */
  width: number;
  height: number;
  /** Size in bytes. */
  size: number;
  /** Original file name. */
  name: string;
  author: string;
  createdAtMs: number;
}

/** Image as served to pages. */
export interface ImageFile {
  type: ImageType;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Table of images. The bytes are the last column, so that SQLite can read the other columns without them. */
export const IMAGES_TABLE = `
CREATE TABLE images (
  hash TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  type TEXT NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  size INTEGER NOT NULL,
  name TEXT NOT NULL,
  author TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  bytes BYTES NOT NULL,
  PRIMARY KEY (hash, workspace_id)
);
`;

/** Images that campaigns of a workspace may show. */
export interface ImageStore {
  /** Returns all images of a workspace, newest first. */
  images(workspaceId: string): Promise<Image[]>;
  /** Adds an image. Returns `false` if the workspace already has it. */
  addImage(image: Image, bytes: Uint8Array): Promise<boolean>;
  /** Removes an image. Returns `false` if the workspace does not have it. */
  removeImage(workspaceId: string, hash: string): Promise<boolean>;
}

const toImage = (row: SqlRow): Image => ({
  workspaceId: readText(row, 'workspace_id'),
  hash: readText(row, 'hash'),
  type: readEnum(row, 'type', IMAGE_TYPES),
  width: readNumber(row, 'width'),
  height: readNumber(row, 'height'),
  size: readNumber(row, 'size'),
  name: readText(row, 'name'),
  author: readText(row, 'author'),
  createdAtMs: readNumber(row, 'created_at_ms'),
});

export const createImageStore = (run: RunSql): ImageStore => ({
  async images(workspaceId) {
    const rows = await run(
      `SELECT workspace_id, hash, type, width, height, size, name, author, created_at_ms FROM images
       WHERE workspace_id = $1 ORDER BY created_at_ms DESC, hash`,
      [workspaceId],
    );
    return rows.map(toImage);
  },

  async addImage({ workspaceId, hash, type, width, height, size, name, author, createdAtMs }, bytes) {
    const rows = await run(
      `INSERT INTO images (workspace_id, hash, type, width, height, size, name, author, created_at_ms, bytes)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING RETURNING hash`,
      [workspaceId, hash, type, width, height, size, name, author, createdAtMs, bytes],
    );
    return rows.length === 1;
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
    return row ? { type: readEnum(row, 'type', IMAGE_TYPES), bytes: readBytes(row, 'bytes') } : null;
  };
