import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Found in the text, which is no JSON while somebody is editing the file. */
const NAMED = /"user_token_keys_file"\s*:\s*"([^"\\]+)"/g;

/** Reads the files with public keys that a workspace file names, relative to it. Those that cannot be read are left out. */
export const readKeyFiles = (file: string, bytes: Uint8Array): ReadonlyMap<string, Uint8Array> => {
  const found = new Map<string, Uint8Array>();
  for (const [, name = ''] of new TextDecoder().decode(bytes).matchAll(NAMED)) {
    try {
      found.set(name, readFileSync(resolve(dirname(file), name)));
    } catch {
      // Parsing the workspace reports it, with the path of the member.
    }
  }
  return found;
};
