import type { SchemaElement } from 'hyparquet';

type Element = Omit<SchemaElement, 'name'> & { name?: string };

interface ParquetCell {
  /** Type name as in the documentation. */
  type: string;
  /** Schema elements of the column, including its groups and leaves. */
  schema: readonly Element[];
  data: unknown;
}

interface TextCell {
  text: string;
  /** Type after the colon in the mapping. */
  as?: 'number' | 'boolean' | 'json';
}

/** One value in each source that supports it: how the source writes it, and what is stored. */
export interface SourceValue {
  title: string;
  /** Type and literal. */
  postgres?: readonly [type: string, literal: string];
  /** Storage class and expression. */
  sqlite?: readonly [type: string, expression: string, as?: TextCell['as']];
  parquet?: ParquetCell;
  csv?: TextCell;
  /** In NDJSON and in the records of a Singer tap. */
  json?: string;
  stored: unknown;
}

const leaf = (type: SchemaElement['type'], more: Partial<SchemaElement> = {}): Element[] => [
  { type: type!, repetition_type: 'OPTIONAL', ...more },
];
const text = leaf('BYTE_ARRAY', { converted_type: 'UTF8' });
const decimal = (precision: number, scale: number) =>
  leaf('FIXED_LEN_BYTE_ARRAY', { type_length: 16, converted_type: 'DECIMAL', precision, scale });
const instant = (unit: 'MILLIS' | 'MICROS' | 'NANOS', isAdjustedToUTC = true) =>
  leaf('INT64', { logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit } });
const list = (element: Element[]): Element[] => [
  { repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  ...element.map((each) => ({ ...each, name: 'element' })),
];

const UUID = '0188d5a4-7c1e-7a3b-9f00-112233445566';
const UUID_HEX = UUID.replaceAll('-', '');
const ID_38 = '12345678901234567890123456789012345678';

/** Text sources keep the notation of times: they are stored as text, unchanged. */
const textual = (
  title: string,
  stored: string,
  more: Omit<SourceValue, 'title' | 'stored'>,
): SourceValue => ({
  title,
  sqlite: ['TEXT', `'${stored}'`],
  csv: { text: stored },
  json: JSON.stringify(stored),
  stored,
  ...more,
});

export const SOURCE_VALUES: readonly SourceValue[] = [
  {
    title: 'null',
    postgres: ['text', 'NULL'],
    sqlite: ['NULL', 'NULL'],
    parquet: { type: 'any', schema: text, data: null },
    csv: { text: '' },
    json: 'null',
    stored: null,
  },
  {
    title: 'boolean',
    postgres: ['boolean', 'true'],
    sqlite: ['INTEGER', '1', 'boolean'],
    parquet: { type: 'BOOLEAN', schema: leaf('BOOLEAN'), data: true },
    csv: { text: 't', as: 'boolean' },
    json: 'true',
    stored: true,
  },
  {
    title: 'integer',
    postgres: ['bigint', '42'],
    sqlite: ['INTEGER', '42'],
    parquet: { type: 'INT64', schema: leaf('INT64'), data: 42n },
    csv: { text: '42', as: 'number' },
    json: '42',
    stored: 42,
  },
  {
    title: 'unsigned integer',
    parquet: {
      type: 'UINT_32',
      schema: leaf('INT32', { converted_type: 'UINT_32' }),
      data: 4_294_967_295,
    },
    stored: 4_294_967_295,
  },
  {
    title: 'integer beyond 2^53',
    postgres: ['bigint', '9007199254740993'],
    sqlite: ['INTEGER', '9007199254740993'],
    parquet: { type: 'INT64', schema: leaf('INT64'), data: 9_007_199_254_740_993n },
    csv: { text: '9007199254740993' },
    json: '9007199254740993',
    stored: '9007199254740993',
  },
  {
    title: 'ID of 38 digits',
    postgres: ['numeric(38,0)', ID_38],
    sqlite: ['TEXT', `'${ID_38}'`],
    parquet: { type: 'DECIMAL(38,0)', schema: decimal(38, 0), data: BigInt(ID_38) },
    csv: { text: ID_38 },
    json: ID_38,
    stored: ID_38,
  },
  {
    title: 'decimal',
    postgres: ['numeric(10,2)', '4.35'],
    sqlite: ['REAL', '4.35'],
    parquet: { type: 'DECIMAL(10,2)', schema: decimal(10, 2), data: 435n },
    csv: { text: '4.35', as: 'number' },
    json: '4.35',
    stored: 4.35,
  },
  {
    title: 'negative decimal',
    postgres: ['numeric(10,3)', '-0.050'],
    sqlite: ['REAL', '-0.05'],
    parquet: {
      type: 'DECIMAL(9,3)',
      schema: leaf('INT32', { converted_type: 'DECIMAL', precision: 9, scale: 3 }),
      data: -50n,
    },
    csv: { text: '-0.050', as: 'number' },
    json: '-0.050',
    stored: -0.05,
  },
  textual('decimal of 19 digits', '0.1234567890123456789', {
    postgres: ['numeric', '0.1234567890123456789'],
    parquet: { type: 'DECIMAL(38,19)', schema: decimal(38, 19), data: 1_234_567_890_123_456_789n },
  }),
  {
    title: 'double',
    postgres: ['double precision', '1e-7'],
    sqlite: ['REAL', '1e-7'],
    parquet: { type: 'DOUBLE', schema: leaf('DOUBLE'), data: 1e-7 },
    csv: { text: '1e-7', as: 'number' },
    json: '1e-7',
    stored: 1e-7,
  },
  {
    title: 'single-precision float',
    postgres: ['real', '19.99'],
    sqlite: ['REAL', '19.99'],
    parquet: { type: 'FLOAT', schema: leaf('FLOAT'), data: 19.99 },
    csv: { text: '19.99', as: 'number' },
    json: '19.99',
    stored: 19.99,
  },
  textual('date', '2026-03-01', {
    postgres: ['date', '2026-03-01'],
    parquet: { type: 'DATE', schema: leaf('INT32', { converted_type: 'DATE' }), data: 20_513 },
  }),
  textual('time in a zone', '2026-03-01T10:00:00.123456Z', {
    postgres: ['timestamptz', '2026-03-01 12:00:00.123456+02'],
    parquet: { type: 'TIMESTAMP(MICROS)', schema: instant('MICROS'), data: 1_772_359_200_123_456n },
  }),
  textual('time without a zone', '2026-03-01T10:00:00.123000Z', {
    postgres: ['timestamp', '2026-03-01 10:00:00.123'],
    parquet: {
      type: 'TIMESTAMP(MILLIS), local',
      schema: instant('MILLIS', false),
      data: 1_772_359_200_123n,
    },
  }),
  textual('time before 1970', '1969-12-31T23:59:59.999999Z', {
    postgres: ['timestamptz', '1969-12-31 23:59:59.999999+00'],
    parquet: {
      type: 'TIMESTAMP_MICROS',
      schema: leaf('INT64', { converted_type: 'TIMESTAMP_MICROS' }),
      data: -1n,
    },
  }),
  textual('time in nanoseconds', '2026-03-01T10:00:00.123456789Z', {
    parquet: { type: 'TIMESTAMP(NANOS)', schema: instant('NANOS'), data: 1_772_359_200_123_456_789n },
  }),
  textual('time of day', '09:30:00', {
    postgres: ['time', '09:30'],
    parquet: {
      type: 'TIME(MILLIS)',
      schema: leaf('INT32', { converted_type: 'TIME_MILLIS' }),
      data: 34_200_000,
    },
  }),
  textual('time of day with a fraction', '09:30:00.500000', {
    postgres: ['time', '09:30:00.5'],
    parquet: {
      type: 'TIME(NANOS)',
      schema: leaf('INT64', { logical_type: { type: 'TIME', isAdjustedToUTC: false, unit: 'NANOS' } }),
      data: 34_200_500_000_000n,
    },
  }),
  textual('duration', 'P1DT2H', { postgres: ['interval', '1 day 2 hours'] }),
  textual('text', "J\u00f6rg\u2028O'", {
    postgres: ['text', "J\u00f6rg\u2028O'"],
    sqlite: ['TEXT', "'J\u00f6rg\u2028O'''"],
    parquet: { type: 'STRING', schema: text, data: "J\u00f6rg\u2028O'" },
  }),
  textual('text that is padded', 'u-1', { postgres: ['char(10)', 'u-1'] }),
  textual('UUID', UUID, {
    postgres: ['uuid', UUID],
    sqlite: ['BLOB', `x'${UUID_HEX}'`],
    parquet: {
      type: 'UUID',
      schema: leaf('FIXED_LEN_BYTE_ARRAY', { type_length: 16, logical_type: { type: 'UUID' } }),
      data: UUID,
    },
  }),
  textual('16 bytes', UUID, {
    postgres: ['bytea', `\\x${UUID_HEX}`],
    sqlite: ['BLOB', `x'${UUID_HEX}'`],
    parquet: {
      type: 'FIXED_LEN_BYTE_ARRAY(16)',
      schema: leaf('FIXED_LEN_BYTE_ARRAY', { type_length: 16 }),
      data: new Uint8Array(Buffer.from(UUID_HEX, 'hex')),
    },
  }),
  textual('other bytes', '00ff', {
    postgres: ['bytea', '\\x00ff'],
    sqlite: ['BLOB', "x'00ff'"],
    parquet: { type: 'BYTE_ARRAY', schema: leaf('BYTE_ARRAY'), data: new Uint8Array([0, 255]) },
  }),
  {
    title: 'JSON',
    postgres: ['jsonb', '{"a": [1, 9007199254740994]}'],
    sqlite: ['TEXT', `'{"a":[1,9007199254740994]}'`, 'json'],
    parquet: {
      type: 'JSON',
      schema: leaf('BYTE_ARRAY', { converted_type: 'JSON' }),
      data: { a: [1, 9_007_199_254_740_994] },
    },
    csv: { text: '{"a":[1,9007199254740994]}', as: 'json' },
    json: '{"a":[1,9007199254740994]}',
    stored: { a: [1, '9007199254740994'] },
  },
  {
    title: 'array',
    postgres: ['text[]', '{a,NULL,"b,c"}'],
    sqlite: ['TEXT', `'["a",null,"b,c"]'`, 'json'],
    parquet: { type: 'LIST of STRING', schema: list(text), data: ['a', null, 'b,c'] },
    csv: { text: '["a",null,"b,c"]', as: 'json' },
    json: '["a",null,"b,c"]',
    stored: ['a', null, 'b,c'],
  },
  {
    title: 'array of times',
    postgres: ['timestamptz[]', '{"2026-03-01 10:00:00+00"}'],
    sqlite: ['TEXT', `'["2026-03-01T10:00:00.000000Z"]'`, 'json'],
    parquet: { type: 'LIST of TIMESTAMP', schema: list(instant('MILLIS')), data: [1_772_359_200_000n] },
    csv: { text: '["2026-03-01T10:00:00.000000Z"]', as: 'json' },
    json: '["2026-03-01T10:00:00.000000Z"]',
    stored: ['2026-03-01T10:00:00.000000Z'],
  },
  {
    title: 'array of arrays',
    postgres: ['int8[]', '{{1,2},{3,9007199254740993}}'],
    sqlite: ['TEXT', `'[[1,2],[3,9007199254740993]]'`, 'json'],
    parquet: {
      type: 'LIST of LIST of INT64',
      schema: list(list(leaf('INT64'))),
      data: [
        [1n, 2n],
        [3n, 9_007_199_254_740_993n],
      ],
    },
    csv: { text: '[[1,2],[3,9007199254740993]]', as: 'json' },
    json: '[[1,2],[3,9007199254740993]]',
    stored: [
      [1, 2],
      [3, '9007199254740993'],
    ],
  },
  {
    title: 'nested',
    postgres: ['jsonb', '{"city": "Berlin", "since": "2026-03-01", "rate": 0.1}'],
    sqlite: ['TEXT', `'{"city":"Berlin","since":"2026-03-01","rate":0.1}'`, 'json'],
    parquet: {
      type: 'group',
      schema: [
        { repetition_type: 'OPTIONAL', num_children: 3 },
        { ...text[0]!, name: 'city' },
        { ...leaf('INT32', { converted_type: 'DATE' })[0]!, name: 'since' },
        { ...leaf('FLOAT')[0]!, name: 'rate' },
      ],
      data: { city: 'Berlin', since: 20_513, rate: 0.1 },
    },
    csv: { text: '{"city":"Berlin","since":"2026-03-01","rate":0.1}', as: 'json' },
    json: '{"city":"Berlin","since":"2026-03-01","rate":0.1}',
    stored: { city: 'Berlin', since: '2026-03-01', rate: 0.1 },
  },
  {
    title: 'map',
    postgres: ['jsonb', '{"de": 0.19, "fr": 0.2}'],
    sqlite: ['TEXT', `'{"de":0.19,"fr":0.2}'`, 'json'],
    parquet: {
      type: 'MAP of STRING to DECIMAL',
      schema: [
        { repetition_type: 'OPTIONAL', converted_type: 'MAP', num_children: 1 },
        { name: 'key_value', repetition_type: 'REPEATED', num_children: 2 },
        { ...text[0]!, repetition_type: 'REQUIRED', name: 'key' },
        { ...decimal(10, 2)[0]!, name: 'value' },
      ],
      data: { de: 19n, fr: 20n },
    },
    csv: { text: '{"de":0.19,"fr":0.2}', as: 'json' },
    json: '{"de":0.19,"fr":0.2}',
    stored: { de: 0.19, fr: 0.2 },
  },
];

/** A value that JSON cannot represent. Its row is rejected with this reason. */
export interface UnreadableValue {
  title: string;
  postgres?: readonly [type: string, literal: string];
  sqlite?: readonly [type: string, expression: string];
  parquet?: ParquetCell;
  reason: string;
}

const NOT_UTF8 = new Uint8Array(Buffer.from('J\xf6rg', 'latin1'));
const OUT_OF_RANGE = 'is outside the years 1 to 9999';

export const UNREADABLE_VALUES: readonly UnreadableValue[] = [
  {
    title: 'infinity',
    postgres: ['double precision', 'Infinity'],
    sqlite: ['REAL', '9e999'],
    parquet: { type: 'DOUBLE', schema: leaf('DOUBLE'), data: Number.POSITIVE_INFINITY },
    reason: 'is Infinity, which JSON cannot hold',
  },
  {
    title: 'not a number',
    postgres: ['numeric', 'NaN'],
    parquet: { type: 'FLOAT', schema: leaf('FLOAT'), data: Number.NaN },
    reason: 'is NaN, which JSON cannot hold',
  },
  {
    title: 'not a number in an array',
    postgres: ['real[]', '{1,NaN}'],
    parquet: { type: 'LIST of DOUBLE', schema: list(leaf('DOUBLE')), data: [1, Number.NaN] },
    reason: 'is NaN, which JSON cannot hold',
  },
  {
    title: 'infinite time',
    postgres: ['timestamptz', 'infinity'],
    reason: 'is infinity, which is not a time',
  },
  { title: 'infinite date', postgres: ['date', '-infinity'], reason: 'is -infinity, which is not a time' },
  { title: 'year before 1', postgres: ['timestamp', '0044-03-15 10:00 BC'], reason: OUT_OF_RANGE },
  {
    title: 'year after 9999',
    postgres: ['date', '10001-01-01'],
    parquet: { type: 'DATE', schema: leaf('INT32', { converted_type: 'DATE' }), data: 2_933_263 },
    reason: OUT_OF_RANGE,
  },
  {
    title: 'text that is not UTF-8',
    sqlite: ['TEXT', "CAST(x'4af67267' AS TEXT)"],
    parquet: { type: 'STRING', schema: text, data: NOT_UTF8 },
    reason: 'is not UTF-8',
  },
  {
    title: 'JSON with an infinite number',
    postgres: ['jsonb', '{"score": 1e400}'],
    reason: `is not JSON: "score" is 1${'0'.repeat(400)}, too large for a number`,
  },
  {
    title: 'duration of Parquet',
    parquet: {
      type: 'INTERVAL',
      schema: leaf('FIXED_LEN_BYTE_ARRAY', { type_length: 12, converted_type: 'INTERVAL' }),
      data: new Uint8Array(12),
    },
    reason: 'has the Parquet type INTERVAL, which is not read',
  },
];
