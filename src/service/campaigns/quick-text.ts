import type { PersonaliseContext } from './personalise-context.ts';

/** Text up to an output that only reads a member, perhaps with a default that is a plain text. */
const PIECE =
  /([^{]*)(?:\{\{\s*(?:(custom_attribute|targeted_device)\.)?\$\{([^}]*)\}\s*(?:\|\s*default:\s*(?:'([^'\\]*)'|"([^"\\]*)")\s*)?\}\}|$)/y;

interface Piece {
  before: string;
  from: 'user' | 'customAttributes' | 'device';
  /** `null` at the end of the text. */
  name: string | null;
  otherwise: string;
}

const SOURCES = { custom_attribute: 'customAttributes', targeted_device: 'device' } as const;

const piecesOf = (text: string): Piece[] | null => {
  const pieces: Piece[] = [];
  PIECE.lastIndex = 0;
  while (PIECE.lastIndex < text.length) {
    const match = PIECE.exec(text);
    if (!match) return null;
    const [, before = '', namespace, name, single, double] = match;
    const from = namespace ? SOURCES[namespace as keyof typeof SOURCES] : 'user';
    pieces.push({ before, from, name: name?.trim() ?? null, otherwise: single ?? double ?? '' });
  }
  return pieces;
};

/**
 * Most templates only put a name into a sentence. Those are filled in here, without the template library, as long as
 * what they read is a plain text or not there at all: `null` for any other value, which is the library's to write.
 * Gives `null` where the template does more.
 */
export const quickText = (text: string): ((context: PersonaliseContext) => string | null) | null => {
  const pieces = piecesOf(text);
  if (!pieces) return null;
  return (context) => {
    let filled = '';
    for (const { before, from, name, otherwise } of pieces) {
      filled += before;
      if (name === null) continue;
      const source = context[from];
      const value = Object.hasOwn(source, name) ? source[name] : undefined;
      if (value === undefined || value === null) filled += otherwise;
      else if (typeof value === 'string' && value !== '') filled += value;
      else return null;
    }
    return filled;
  };
};
