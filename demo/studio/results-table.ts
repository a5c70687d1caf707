import type { Results, VariantResults } from '../server/results.ts';
import { node } from '../ui/node.ts';
import type { CampaignText } from './campaign-text.ts';

const percent = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 1 });

const cell = ({ total, unique }: { total: number; unique: number }) =>
  node('td', {}, [
    String(total),
    node('span', { class: 'people' }, [unique === 1 ? '1 person' : `${unique} people`]),
  ]);

const row = (name: string, { impression, click, dismiss }: VariantResults) =>
  node('tr', {}, [
    node('th', { scope: 'row' }, [name]),
    cell(impression),
    cell(click),
    cell(dismiss),
    node('td', {}, [impression.unique === 0 ? '–' : percent.format(click.unique / impression.unique)]),
  ]);

/** What people saw and did, by variant; the control group beside it. */
export const resultsTable = (campaign: CampaignText, results: Results): HTMLElement => {
  const counts = results[campaign.campaign_id] ?? {};
  const names = new Map(campaign.variants.map(({ variant_id, name }) => [variant_id, name ?? variant_id]));
  const rows = Object.entries(counts).sort(([a], [b]) => a.localeCompare(b));
  if (rows.length === 0) {
    return node('p', { class: 'muted' }, [
      'Nobody has seen it yet. Open the shop, and look at it for a second.',
    ]);
  }
  const heads = ['Variant', 'Seen', 'Clicked', 'Dismissed', 'Click rate'];
  return node('div', { class: 'table' }, [
    node('table', {}, [
      node('thead', {}, [
        node(
          'tr',
          {},
          heads.map((head) => node('th', { scope: 'col' }, [head])),
        ),
      ]),
      node(
        'tbody',
        {},
        rows.map(([id, each]) => row(id === 'control' ? 'Control group' : (names.get(id) ?? id), each)),
      ),
    ]),
  ]);
};
