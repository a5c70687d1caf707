import {
  fitsBytes,
  fitsCharacters,
  isStorableText,
  MAX_APP_VERSION_CHARACTERS,
  MAX_EXTERNAL_USER_ID_BYTES,
  notValid,
  required,
} from '../protocol/index.ts';

/** What the bodies of both banner endpoints begin with. */
export interface FakeEnvelope {
  external_user_id: string;
  app_id: string;
  app_version: string;
}

/** The envelope, or why the service refuses it; `appIds` are the apps that exist, or any. */
export const envelopeOf = (
  body: Record<string, unknown>,
  appIds: readonly string[] | undefined,
): FakeEnvelope | string => {
  const fits: Record<keyof FakeEnvelope, (text: string) => boolean> = {
    external_user_id: (text) => fitsBytes(text, MAX_EXTERNAL_USER_ID_BYTES),
    app_id: (text) => appIds?.includes(text) ?? true,
    app_version: (text) => fitsCharacters(text, MAX_APP_VERSION_CHARACTERS),
  };
  for (const [name, isSound] of Object.entries(fits)) {
    const value = body[name];
    if (value === undefined || value === null || value === '') return required(name);
    if (typeof value !== 'string' || !isStorableText(value) || !isSound(value)) return notValid(name);
  }
  return body as unknown as FakeEnvelope;
};
