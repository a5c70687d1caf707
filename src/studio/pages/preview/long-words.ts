/** As languages with long words do: half as long again, and each word of a text in one. */
const LENGTHEN = /(\p{L}{4,})/gu;
const WORDS = ['headline', 'body', 'button_text'];

type Properties = Record<string, { type: string; value: unknown }>;

/** The same banner in a language of long words, to see what breaks. */
export const longWords = (properties: Properties): Properties =>
  Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const { type, value } = property;
      if (!WORDS.includes(name) || typeof value !== 'string') return [name, property];
      return [
        name,
        {
          type,
          value: value.replace(LENGTHEN, (word) => `${word}${word.slice(0, 4).toLowerCase()}ungsheit`),
        },
      ];
    }),
  );
