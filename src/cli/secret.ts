import { readFileSync } from 'node:fs';

/**
 * Returns the value of an environment variable, or the contents of the file that `<name>_FILE` names, as container engines mount
 * secrets; `undefined` if both are unset or empty. Throws if both are set, or if the file is empty or cannot be read.
 */
export const secretVariable = (name: string): string | undefined => {
  const fileVariable = `${name}_FILE`;
  const { [name]: value, [fileVariable]: file } = process.env;
  if (value && file) throw new Error(`${name} and ${fileVariable} are both set: keep one of them`);
  if (!file) return value || undefined;
  const secret = readFileSync(file, 'utf8').trim();
  if (secret === '') throw new Error(`${file}, which ${fileVariable} names, is empty`);
  return secret;
};
