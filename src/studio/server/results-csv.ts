import type { CampaignText } from '../campaign/campaign-text.ts';
import { goalName } from '../statistics/metrics.ts';
import type { ResultsAnswer } from './routes/results.ts';

/** A spreadsheet runs a cell that begins with one of these, be it behind spaces, or as wide as East Asian letters. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;

const cell = (value: string | number): string => {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** The counts by variant as CSV (RFC 4180). */
export const resultsCsv = (campaign: CampaignText, { arms }: Pick<ResultsAnswer, 'arms'>): string => {
  const goals = campaign.conversions ?? [];
  const heads = [
    'campaign',
    'variant',
    'people',
    'impressions',
    'clicks',
    'people_clicked',
    'people_dismissed',
  ];
  const goalHeads = goals.flatMap((goal) => [`people: ${goalName(goal)}`, `revenue: ${goalName(goal)}`]);
  const rows = arms.map(({ name, exposed, impressions, clicks, clicked, dismissed, goals: reached }) => [
    campaign.campaign_id,
    name,
    exposed,
    impressions,
    clicks,
    clicked,
    dismissed,
    ...reached.flatMap(({ converted, revenue }) => [converted, revenue]),
  ]);
  return [[...heads, ...goalHeads], ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
};
