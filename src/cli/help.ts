import { stripVTControlCharacters } from 'node:util';
import { type CommandDef, renderUsage } from 'citty';

/** Example command lines, by command. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  placard: ['placard init', 'placard serve', 'placard track --help'],
  init: ['placard init', 'placard init workspaces/shop.json'],
  check: [
    'placard check workspace.json',
    'placard check workspace.json --sources',
    'placard check workspaces --strict',
    'placard check --verify-results --db placard.db',
  ],
  serve: [
    'placard serve',
    'placard serve --workspace workspace.json --db placard.db --port 8787',
    'HOST=0.0.0.0 PLACARD_DB=postgres://placard@127.0.0.1/placard placard serve',
  ],
  track: [
    'placard track users.ndjson --endpoint http://127.0.0.1:8787',
    'placard track users.csv --as attributes --dry-run',
    'placard track events.ndjson --resume events.progress --rejects events.rejected.ndjson',
  ],
  integrations: [
    'placard integrations --endpoint http://127.0.0.1:8787',
    'placard integrations sync customers --wait',
    'placard integrations runs customers',
    'placard integrations rejects customers --csv --db placard.db > rejects.csv',
  ],
  ingest: ['tap-shop | placard ingest - --as events --columns customer=external_id,at=time'],
  explain: [
    'placard explain --user u-771',
    'placard explain --user u-771 --placement home_hero --endpoint http://127.0.0.1:8787',
  ],
  export: [
    'placard export users --db placard.db > users.ndjson',
    'placard export banner-events --db placard.db > banner-events.ndjson',
  ],
  stream: [
    'placard stream --to ndjson --db placard.db > events.ndjson',
    'placard stream --to parquet warehouse --resume warehouse.cursor --db placard.db',
    'placard stream --to webhook https://hooks.example/placard --follow --db placard.db',
    'placard stream --to postgres://placard@warehouse.example/analytics --follow --db placard.db',
  ],
  webhooks: [
    'placard webhooks --db placard.db',
    'placard webhooks attempts crm --db placard.db',
    'placard webhooks replay crm --from start --db placard.db',
  ],
  backup: ['placard backup --db placard.db --to copy.db'],
  prune: [
    'placard prune --db placard.db --before 2026-01-01',
    'placard prune --db placard.db --before 2026-01-01 --yes --vacuum',
  ],
  erase: ['placard erase --external-id u-771 --endpoint http://127.0.0.1:8787'],
  mcp: ['PLACARD_OPERATOR_KEY_FILE=operator.key placard mcp --studio-url http://127.0.0.1:8788'],
  operator: ["placard operator create --name 'Mia' --role publish"],
  campaigns: [
    'placard campaigns pull campaigns --workspace workspace.json --db placard.db',
    "placard campaigns push campaigns --db placard.db --note 'Summer sale'",
  ],
};

const PARTLY_SENT = ['2', 'sent to the end, but some objects were rejected or are in doubt'] as const;

const exitCodes = (name: string): (readonly [code: string, meaning: string])[] => [
  ['0', 'done'],
  ['1', 'not done; the reason is on stderr'],
  ...(name === 'track' || name === 'ingest' ? [PARTLY_SENT] : []),
  ['128 + n', 'ended by the signal n, such as 130 for Ctrl-C'],
];

const section = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? '' : `\n${title}\n\n${lines.map((line) => `  ${line}\n`).join('')}`;

/** Returns the text of `--help`: usage, examples and exit codes. Uses colors only on a terminal. */
export const formatHelp = async (
  name: string,
  command: CommandDef,
  parent: CommandDef | undefined,
  isTerminal: boolean,
): Promise<string> => {
  const usage = await renderUsage(command, parent);
  const codes = exitCodes(name).map(([code, meaning]) => `${code.padEnd(9)}${meaning}`);
  return [
    isTerminal ? usage : stripVTControlCharacters(usage).replaceAll(/ +$/gm, ''),
    section('EXAMPLES', EXAMPLES[name] ?? []),
    section('EXIT CODES', codes),
  ].join('\n');
};
