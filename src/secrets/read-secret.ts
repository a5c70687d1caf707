import { readFileSync } from 'node:fs';

/**
 * Returns the value of an environment variable, or the contents of the file named by `<name>_FILE` without its trailing line
 * break; `undefined` if both are unset or empty. Throws if both are set, or if the file is empty or unreadable.
 */
export const readSecret = (name: string): string | undefined => {
  const fileVariable = `${name}_FILE`;
  const { [name]: value, [fileVariable]: file } = process.env;
  if (value && file) throw new Error(`${name} and ${fileVariable} are both set: keep one of them`);
  if (!file) return value || undefined;
  const described = `${file}, which ${fileVariable} names,`;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`${described} cannot be read (${Object(cause).code})`, { cause });
  }
  const secret = text.replace(/\r?\n$/, '');
  if (secret.trim() === '') throw new Error(`${described} is empty`);
  return secret;
};
