import { KeyProblem, type PublicKey, readKeyFile, readPublicKeys } from '../user-tokens/public-keys.ts';
import { createUserTokens, type UserTokens } from '../user-tokens/user-tokens.ts';
import type { AppFile } from './file-schema.ts';

/** The text of a file that a workspace file names; `null` where it cannot be read. */
export type ReadKeyFile = (name: string) => string | null;
type Problem = (path: PropertyKey[], problem: string) => void;

const keysOf = (app: AppFile, index: number, readFile: ReadKeyFile, problem: Problem): PublicKey[] => {
  const keys: PublicKey[] = [];
  const add = (path: PropertyKey[], read: () => PublicKey[]) => {
    try {
      keys.push(...read());
    } catch (error) {
      if (!(error instanceof KeyProblem)) throw error;
      problem([index, ...path], error.message);
    }
  };
  for (const [position, key] of (app.user_token_keys ?? []).entries()) {
    add(['user_token_keys', position], () => readPublicKeys(key));
  }
  const { user_token_keys_file: file } = app;
  if (file === undefined) return keys;
  const text = readFile(file);
  if (text === null) {
    problem([index, 'user_token_keys_file'], 'expected a file beside the workspace file that can be read');
  } else add(['user_token_keys_file'], () => readKeyFile(text));
  return keys;
};

/** Of the apps that take or need user tokens, by app ID. `problem` receives each key that cannot be used. */
export const userTokensOf = (
  workspaceId: string,
  apps: readonly AppFile[],
  readFile: ReadKeyFile,
  problem: Problem,
): ReadonlyMap<string, UserTokens> => {
  const found = new Map<string, UserTokens>();
  for (const [index, app] of apps.entries()) {
    const keys = keysOf(app, index, readFile, problem);
    const { app_id: appId, user_tokens: mode = 'off', visitors = false } = app;
    if (mode === 'off') continue;
    if (!app.user_token_keys?.length && app.user_token_keys_file === undefined) {
      problem([index, 'user_tokens'], "expected a key in 'user_token_keys' or 'user_token_keys_file'");
    }
    const isRequired = mode === 'required';
    found.set(appId, createUserTokens({ workspaceId, appId, keys, isRequired, allowsVisitors: visitors }));
  }
  return found;
};

/** A client key is good for all apps of a workspace: one that needs no token lets in whom another one keeps out. */
export const openApps = (apps: readonly AppFile[]): string[] => {
  const strict = apps.find(({ user_tokens }) => user_tokens === 'required');
  if (!strict) return [];
  return apps.flatMap(({ app_id, user_tokens }, index) =>
    user_tokens === 'required'
      ? []
      : [
          `apps[${index}].user_tokens: ${app_id} takes requests without a token, so the users of ${strict.app_id} are not protected: write "required"`,
        ],
  );
};
