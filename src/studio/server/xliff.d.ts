/** Types of the used part of the library, which has no types. */
declare module 'xliff' {
  interface Unit {
    source?: unknown;
    /** Translation. An array if it contains inline codes. */
    target?: unknown;
  }
  interface Content {
    /** Units by file and ID. */
    resources: Record<string, Record<string, Unit>>;
    sourceLanguage: string;
    targetLanguage?: string;
  }
  export const js2xliff: (content: Content) => Promise<string>;
  export const jsToXliff12: (content: Content) => Promise<string>;
  export const xliff2js: (text: string) => Promise<Content>;
  export const xliff12ToJs: (text: string) => Promise<Content>;
}
