import { TEMPLATE_PROPERTIES } from '../../templates/index.ts';
import type { CampaignJson, FrequencyJson, GoalJson, OnClickJson } from './campaign-json.ts';
import type { AudienceName } from './conditions/condition-kind.ts';
import { describeAudience } from './describe-audience.ts';
import { formatCount } from './format-number.ts';
import { languageName } from './translations.ts';

/** Formatters of IDs and timestamps for a workspace. */
export interface Naming {
  placement(id: string): string;
  moment(iso: string): string;
  audience: AudienceName;
}

const LABELS: Readonly<Record<string, string>> = {
  name: 'Name',
  status: 'Once published',
  placements: 'Placements',
  priority: 'Priority',
  starts_at: 'Start',
  ends_at: 'End',
  audience: 'Audience',
  control_percentage: 'Control group',
  reeligible_after_hours: 'Show again after dismissal',
  test_users: 'Test users',
  conversions: 'Goals',
  target_sample_size: 'Target sample size',
  tags: 'Tags',
  frequency: 'Frequency cap',
  language: 'Language',
  weight: 'Weight',
  cache_ttl_seconds: 'Cache for',
  on_click: 'On click',
};

/** Returns the label of a member of a campaign, a variant or its properties. */
export const getFieldLabel = (name: string): string =>
  TEMPLATE_PROPERTIES.find((each) => each.name === name)?.label ?? LABELS[name] ?? name;

/** Labels of the statuses of published campaigns. */
export const STATUS_WORDS: Readonly<Record<CampaignJson['status'], string>> = {
  active: 'Runs',
  draft: 'Test users only',
  stopped: 'Stopped',
};

export const PRIORITY_WORDS: Readonly<Record<NonNullable<CampaignJson['priority']>, string>> = {
  high: 'High',
  medium: 'Medium',
  low: 'Low',
};

const SECONDS_A_DAY = 86_400;
const HOURS_A_DAY = 24;

/** Formats a duration in days, hours or minutes, such as `10 minutes`, `6 hours` or `2 days`. */
export const formatDuration = (seconds: number): string => {
  if (seconds >= SECONDS_A_DAY) return formatCount(Math.round((seconds / SECONDS_A_DAY) * 10) / 10, 'day');
  return seconds >= 3_600
    ? formatCount(Math.round(seconds / 360) / 10, 'hour')
    : formatCount(Math.ceil(seconds / 60), 'minute');
};

const describeGoal = ({ event, product, within_hours }: GoalJson): string => {
  const deed = product == null ? `do “${event ?? ''}”` : `buy “${product}”`;
  return `${deed} within ${formatCount(within_hours / HOURS_A_DAY, 'day')}`;
};

/** Returns the value as text or JSON. */
export const formatFieldValue = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

const times = (count: number) => (count === 1 ? 'once' : `${count} times`);

/** Describes a frequency cap as a list of limits. */
const describeFrequency = ({ impressions, stop_after }: FrequencyJson): string =>
  [
    impressions && `at most ${times(impressions.max)} in ${formatCount(impressions.days, 'day')}`,
    stop_after?.impressions && `no more after ${formatCount(stop_after.impressions, 'view')}`,
    stop_after?.clicks && `no more after ${formatCount(stop_after.clicks, 'click')}`,
    stop_after?.conversions && `no more after ${formatCount(stop_after.conversions, 'goal')}`,
  ]
    .filter(Boolean)
    .join('; ');

const describeOnClick = ({ event, attributes }: OnClickJson): string =>
  [
    event && `logs “${event}”`,
    ...Object.entries(attributes ?? {}).map(([name, value]) => `sets ${name} to ${value}`),
  ]
    .filter(Boolean)
    .join('; ');

/** Formatters by member, for values other than `null` and `undefined`. */
const WORDS: Readonly<Record<string, (value: never, naming: Naming) => string>> = {
  language: languageName,
  status: (status: CampaignJson['status']) => STATUS_WORDS[status],
  placements: (ids: string[], { placement }) => ids.map(placement).join(', '),
  priority: (priority: keyof typeof PRIORITY_WORDS) => PRIORITY_WORDS[priority],
  starts_at: (iso: string, { moment }) => moment(iso),
  ends_at: (iso: string, { moment }) => moment(iso),
  frequency: describeFrequency,
  conversions: (goals: GoalJson[]) => goals.map(describeGoal).join('; '),
  control_percentage: (percent: number) => (percent === 0 ? '' : `${percent}%`),
  reeligible_after_hours: (hours: number) => formatCount(hours, 'hour'),
  cache_ttl_seconds: formatDuration,
  on_click: describeOnClick,
};

/** Formats a value for operators; `''` if not set. */
export const formatField = (name: string, value: unknown, naming: Naming): string => {
  if (name === 'audience') return describeAudience(value, naming.audience);
  if (value === undefined || value === null) return name === 'reeligible_after_hours' ? 'never' : '';
  return WORDS[name]?.(value as never, naming) ?? formatFieldValue(value);
};
