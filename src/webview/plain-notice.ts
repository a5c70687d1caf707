import type { Notice } from '../client/index.ts';

/** A notice that crosses into native code: JSON only, and an error as its message. */
export const plainNotice = (notice: Notice): Record<string, unknown> => {
  if (notice.type !== 'failed') return { ...notice };
  const { cause, ...rest } = notice;
  return { ...rest, ...(cause instanceof Error && { cause: cause.message }) };
};
