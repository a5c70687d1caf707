import { notValid, required } from './error-codes.ts';
import { MAX_APP_VERSION_CHARACTERS, MAX_EXTERNAL_USER_ID_BYTES } from './limits.ts';
import { isPresent } from './record.ts';
import { fitsBytes, fitsCharacters, isStorableText } from './text.ts';

/** What the bodies of both banner endpoints begin with. */
export interface BannerEnvelope {
  external_user_id: string;
  app_id: string;
  app_version: string;
}

const NAMES = ['external_user_id', 'app_id', 'app_version'] as const;

/** The envelope, or the text of the 400 with which it is refused. */
export const readEnvelope = (
  body: Record<string, unknown>,
  isApp: (appId: string) => boolean,
): BannerEnvelope | string => {
  const fits: Record<keyof BannerEnvelope, (text: string) => boolean> = {
    external_user_id: (text) => fitsBytes(text, MAX_EXTERNAL_USER_ID_BYTES),
    app_id: isApp,
    app_version: (text) => fitsCharacters(text, MAX_APP_VERSION_CHARACTERS),
  };
  const envelope: BannerEnvelope = { external_user_id: '', app_id: '', app_version: '' };
  for (const name of NAMES) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (!isPresent(value)) return required(name);
    if (typeof value !== 'string' || !isStorableText(value) || !fits[name](value)) return notValid(name);
    envelope[name] = value;
  }
  return envelope;
};
