/** The version of this package; a test holds it to `package.json`, which a browser cannot read. */
export const VERSION = '0.1.0';
