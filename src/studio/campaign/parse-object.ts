import { isRecord } from '../../protocol/index.ts';

/** Parses a JSON object. Returns `undefined` if the text is not one, as while typing. */
export const parseObject = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
};
