const SPACE = /[ \t\n\r]*/y;
/** Everything from the space on but the quote and the backslash, which stands before one of a few letters. */
const TEXT = /"(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/uy;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** What `JSON.parse` keeps to itself. */
export interface JsonScan {
  /** Where the text stops being JSON, such as `line 3 column 7`; the platform says it of some mistakes only. */
  fault: string | null;
  /** Paths of members that are there a second time: the last one would win without a word. */
  repeated: PropertyKey[][];
}

export const scanJson = (text: string): JsonScan => {
  let at = 0;
  const repeated: PropertyKey[][] = [];
  const take = (pattern: RegExp): string | undefined => {
    SPACE.lastIndex = at;
    SPACE.test(text);
    at = SPACE.lastIndex;
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  /** Throws where it is not there; `at` is the place then. */
  const need = (pattern: RegExp): string => {
    const found = take(pattern);
    if (found === undefined) throw new SyntaxError('not JSON');
    return found;
  };
  const list = (end: RegExp, item: (index: number) => void) => {
    if (take(end)) return;
    item(0);
    for (let index = 1; take(/,/y); index += 1) item(index);
    need(end);
  };
  const value = (path: PropertyKey[]) => {
    if (take(/\{/y)) {
      const names = new Set<string>();
      list(/\}/y, () => {
        const name: string = JSON.parse(need(TEXT));
        if (names.has(name)) repeated.push([...path, name]);
        names.add(name);
        need(/:/y);
        value([...path, name]);
      });
    } else if (take(/\[/y)) list(/\]/y, (index) => value([...path, index]));
    else if (!take(TEXT)) need(SCALAR);
  };

  try {
    value([]);
    need(/$/y);
    return { fault: null, repeated };
  } catch {
    // Whatever it is, it is at this place; the parser's own message would quote what stands there.
    const lines = text.slice(0, at).split('\n');
    return { fault: `line ${lines.length} column ${lines.at(-1)!.length + 1}`, repeated };
  }
};
