/** The library has no types; these cover the used part. */
declare module 'xliff' {
  interface Unit {
    source?: unknown;
    /** An array if it contains inline codes. */
    target?: unknown;
  }
  interface Content {
    /** Units by file, then by ID. */
    resources: Record<string, Record<string, Unit>>;
    sourceLanguage: string;
    targetLanguage?: string;
  }
  export const js2xliff: (content: Content) => Promise<string>;
  export const jsToXliff12: (content: Content) => Promise<string>;
  export const xliff2js: (text: string) => Promise<Content>;
  export const xliff12ToJs: (text: string) => Promise<Content>;
}
