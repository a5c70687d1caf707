import { ActionError } from '../call.ts';

/** Encodings by byte order mark. */
const UTF_16: Readonly<Record<string, string>> = { '255,254': 'utf-16le', '254,255': 'utf-16be' };

/** Returns the encoding of the XML declaration; `undefined` if none. */
const declaredIn = (bytes: Uint8Array): string | undefined => {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 200));
  return /^(?:\u00ef\u00bb\u00bf)?<\?xml[^>]*?\sencoding\s*=\s*["']([\w.-]+)/.exec(start)?.[1];
};

const getEncoding = (bytes: Uint8Array): string =>
  UTF_16[bytes.subarray(0, 2).join()] ?? declaredIn(bytes) ?? 'utf-8';

/**
 * Returns the text of a file in UTF-8, in UTF-16 with a byte order mark, or in the encoding of its XML declaration. Otherwise
 * throws a `ActionError`, because legacy Windows encodings cannot be detected reliably and characters would be lost.
 */
export const readTextFile = async (file: File): Promise<string> => {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const encoding = getEncoding(bytes);
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ActionError(
      encoding === 'utf-8'
        ? `“${file.name}” is not in UTF-8. In Excel, save it as “CSV UTF-8”, then import it again.`
        : `“${file.name}” says that it is in ${encoding}, and is not. Save it in UTF-8, then import it again.`,
    );
  }
};
